"""Parametric perturbations of images (N, H, W, C) in [0, 1], each image by a magnitude of its own (N,).

What comes in from outside of an image is black.
"""

from typing import Any

from baselines.core import images as geometry
from baselines.core.images import blend, grey
from baselines.core.lazy import tf


def rotate(degrees: Any, images: Any) -> Any:
    """Rotate counter-clockwise about the centre."""
    return geometry.rotate(images, degrees)


def translate_x(shares: Any, images: Any) -> Any:
    """Shift to the right by a share of the width."""
    return geometry.translate(images, shares, tf.zeros_like(shares))


def translate_y(shares: Any, images: Any) -> Any:
    """Shift down by a share of the height."""
    return geometry.translate(images, tf.zeros_like(shares), shares)


def jitter_colours(amounts: Any, images: Any) -> Any:
    """Change brightness, contrast, saturation and hue, in this order, all by the same amount.

    The first three are multiplied by 1 + amount; hue moves by the amount, in turns of the colour wheel. Images
    of one channel have neither saturation nor hue.
    """
    amounts = amounts[:, None, None, None]
    images = blend(0.0, images, 1 + amounts)
    images = blend(tf.reduce_mean(grey(images), axis=[1, 2, 3], keepdims=True), images, 1 + amounts)
    if images.shape[-1] == 1:
        return images
    colours = tf.image.rgb_to_hsv(blend(grey(images), images, 1 + amounts))
    hue = tf.math.floormod(colours[..., :1] + amounts, 1.0)
    return tf.image.hsv_to_rgb(tf.concat([hue, colours[..., 1:]], axis=-1))
