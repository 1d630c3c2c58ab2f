"""Geometric transformations of images, with an amount for each image. Training in `harness/corpus` uses them, too."""

import math
from collections.abc import Sequence
from typing import Any

from baselines.core.lazy import tf


def transform(images: Any, rows: Sequence[Any], interpolation: str = "BILINEAR", fill: float = 0.0) -> Any:
    """Return images (N, H, W, C) whose pixel (x, y) is the input's pixel at (a x + b y + c, d x + e y + f).

    `rows` are a, b, c, d, e, f, each (N,). `interpolation` is BILINEAR or NEAREST. Outside an image, pixels are `fill`.
    """
    zero = tf.zeros_like(rows[0])
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images, transforms=tf.stack([*rows, zero, zero], axis=1), output_shape=tf.shape(images)[1:3],
        fill_value=fill, interpolation=interpolation, fill_mode="CONSTANT",
    )  # fmt: skip


def rotate(images: Any, degrees: Any, fill: float = 0.0) -> Any:
    """Rotate images (N, H, W, C) by `degrees` (N,), counter-clockwise around the centre."""
    angle = tf.cast(degrees, tf.float32) * (math.pi / 180)
    cosine, sine = tf.cos(angle), tf.sin(angle)
    height, width = tf.unstack((tf.cast(tf.shape(images)[1:3], tf.float32) - 1) / 2)  # the centre
    return transform(
        images,
        (cosine, -sine, width - cosine * width + sine * height, sine, cosine, height - sine * width - cosine * height),
        fill=fill,
    )


def translate(images: Any, right: Any, down: Any, fill: float = 0.0) -> Any:
    """Shift images (N, H, W, C) to the right and down by fractions (N,) of width and height."""
    height, width = tf.unstack(tf.cast(tf.shape(images)[1:3], tf.float32))
    right, down = tf.cast(right, tf.float32), tf.cast(down, tf.float32)
    zero, one = tf.zeros_like(right), tf.ones_like(right)
    return transform(images, (one, zero, -right * width, zero, one, -down * height), fill=fill)


def shear(images: Any, horizontal: Any, vertical: Any, fill: float = 0.0) -> Any:
    """Shear images (N, H, W, C) by factors (N,): (x, y) gets the pixel at (x + `horizontal` y, y + `vertical` x)."""
    zero, one = tf.zeros_like(horizontal), tf.ones_like(horizontal)
    return transform(images, (one, horizontal, zero, vertical, one, zero), fill=fill)
