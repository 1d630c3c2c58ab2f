"""Parametric perturbations of images (N, H, W, C) in [0, 1], each image by a magnitude of its own (N,).

What comes in from outside of an image is black. The training of corpora has changes like these (harness/corpus), but
neither imports the other: a corpus must not change with the library, nor the library need the harness in a sandbox.
"""

import math
from typing import Any

from baselines.core.lazy import tf

#: Weights of red, green and blue in a pixel's luminance.
LUMINANCE = [0.299, 0.587, 0.114]


def rotate(degrees: Any, images: Any) -> Any:
    """Rotate counter-clockwise about the centre."""
    angle = degrees * (math.pi / 180)
    cosine, sine = tf.cos(angle), tf.sin(angle)
    y, x = [(side - 1) / 2 for side in images.shape[1:3]]  # the centre
    return _transform(images, cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y)


def translate_x(shares: Any, images: Any) -> Any:
    """Shift to the right by a share of the width."""
    none, one = tf.zeros_like(shares), tf.ones_like(shares)
    return _transform(images, one, none, -shares * images.shape[2], none, one, none)


def translate_y(shares: Any, images: Any) -> Any:
    """Shift down by a share of the height."""
    none, one = tf.zeros_like(shares), tf.ones_like(shares)
    return _transform(images, one, none, none, none, one, -shares * images.shape[1])


def _transform(images: Any, *rows: Any) -> Any:
    """Look each pixel (x, y) of the result up at (a x + b y + c, d x + e y + f), with rows a, b, c, d, e, f."""
    none = tf.zeros_like(rows[0])
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images, transforms=tf.stack([*rows, none, none], axis=1), output_shape=images.shape[1:3],
        fill_value=0.0, interpolation="BILINEAR", fill_mode="CONSTANT",
    )  # fmt: skip


def jitter_colours(amounts: Any, images: Any) -> Any:
    """Change brightness, contrast, saturation and hue, in this order, all by the same amount.

    The first three are multiplied by 1 + amount; hue moves by the amount, in turns of the colour wheel. Images
    of one channel have neither saturation nor hue.
    """
    amounts = amounts[:, None, None, None]
    images = _blend(0.0, images, 1 + amounts)
    images = _blend(tf.reduce_mean(_grey(images), axis=[1, 2, 3], keepdims=True), images, 1 + amounts)
    if images.shape[-1] == 1:
        return images
    colours = tf.image.rgb_to_hsv(_blend(_grey(images), images, 1 + amounts))
    hue = tf.math.floormod(colours[..., :1] + amounts, 1.0)
    return tf.image.hsv_to_rgb(tf.concat([hue, colours[..., 1:]], axis=-1))


def _grey(images: Any) -> Any:
    return images if images.shape[-1] == 1 else tf.tensordot(images, tf.constant(LUMINANCE)[:, None], axes=1)


def _blend(base: Any, images: Any, factor: Any) -> Any:
    """Go from `base` (factor 0) to `images` (factor 1) and beyond, inside [0, 1]."""
    return tf.clip_by_value(base + factor * (images - base), 0.0, 1.0)
