"""Geometric changes of batches of images, each image by an amount of its own.

Imports TensorFlow: for the trainer's process only.
"""

import math
from collections.abc import Sequence
from typing import Any

import tensorflow as tf


def transform(images: Any, rows: Sequence[Any], interpolation: str = "BILINEAR", fill: float = 0.0) -> Any:
    """Look each pixel (x, y) of the result up at (a x + b y + c, d x + e y + f).

    Args:
        images: (N, H, W, C).
        rows: a, b, c, d, e, f; each (N,).
        interpolation: BILINEAR or NEAREST.
        fill: what lies outside of an image.
    """
    none = tf.zeros_like(rows[0])
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images, transforms=tf.stack([*rows, none, none], axis=1), output_shape=tf.shape(images)[1:3],
        fill_value=fill, interpolation=interpolation, fill_mode="CONSTANT",
    )  # fmt: skip


def rotate(images: Any, degrees: Any, fill: float = 0.0) -> Any:
    """Rotate counter-clockwise about the centre."""
    angle = tf.cast(degrees, tf.float32) * (math.pi / 180)
    cosine, sine = tf.cos(angle), tf.sin(angle)
    height, width = tf.unstack((tf.cast(tf.shape(images)[1:3], tf.float32) - 1) / 2)  # the centre
    return transform(
        images,
        (cosine, -sine, width - cosine * width + sine * height, sine, cosine, height - sine * width - cosine * height),
        fill=fill,
    )


def translate(images: Any, right: Any, down: Any, fill: float = 0.0) -> Any:
    """Shift by shares of width and height."""
    height, width = tf.unstack(tf.cast(tf.shape(images)[1:3], tf.float32))
    right, down = tf.cast(right, tf.float32), tf.cast(down, tf.float32)
    none, one = tf.zeros_like(right), tf.ones_like(right)
    return transform(images, (one, none, -right * width, none, one, -down * height), fill=fill)


def shear(images: Any, horizontal: Any, vertical: Any, fill: float = 0.0) -> Any:
    """Shear: x moves by `horizontal` times y, y by `vertical` times x, from the corner at the top left."""
    none, one = tf.zeros_like(horizontal), tf.ones_like(horizontal)
    return transform(images, (one, horizontal, none, vertical, one, none), fill=fill)
