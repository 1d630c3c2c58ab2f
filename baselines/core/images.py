"""Changes of batches of images (N, H, W, C), each image by an amount of its own; also for the training of corpora."""

import math
from collections.abc import Sequence
from typing import Any

from baselines.core.lazy import tf

#: Red, green and blue in the luminance of ITU-R BT.601.
LUMINANCE = (0.299, 0.587, 0.114)


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
    y, x = tf.unstack((tf.cast(tf.shape(images)[1:3], tf.float32) - 1) / 2)  # the centre
    rows = cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y
    return transform(images, rows, fill=fill)


def translate(images: Any, right: Any, down: Any, fill: float = 0.0) -> Any:
    """Shift by shares of width and height."""
    height, width = tf.unstack(tf.cast(tf.shape(images)[1:3], tf.float32))
    right, down = tf.cast(right, tf.float32), tf.cast(down, tf.float32)
    none, one = tf.zeros_like(right), tf.ones_like(right)
    return transform(images, (one, none, -right * width, none, one, -down * height), fill=fill)


def grey(images: Any) -> Any:
    """Luminance, (N, H, W, 1)."""
    return images if images.shape[-1] == 1 else tf.tensordot(images, tf.constant(LUMINANCE)[:, None], axes=1)


def blend(base: Any, images: Any, factor: Any) -> Any:
    """Go from `base` (factor 0) to `images` (factor 1) and beyond, inside [0, 1]."""
    return tf.clip_by_value(base + factor * (images - base), 0.0, 1.0)
