"""Perturbations of images (N, H, W, C) in [0, 1], with a magnitude (N,) for each image.

Pixels from outside an image are black. The training of networks in `harness/corpus` uses these functions, too.
"""

from typing import Any

from baselines.core.lazy import tf
from baselines.perturbation_response import geometry

#: Weights of red, green and blue in a pixel's luminance.
LUMINANCE = [0.299, 0.587, 0.114]


def rotate(degrees: Any, images: Any) -> Any:
    """Rotate images counter-clockwise around the centre."""
    return geometry.rotate(images, degrees)


def translate_x(shares: Any, images: Any) -> Any:
    """Shift images to the right by a fraction of the width."""
    return geometry.translate(images, shares, tf.zeros_like(shares))


def translate_y(shares: Any, images: Any) -> Any:
    """Shift images down by a fraction of the height."""
    return geometry.translate(images, tf.zeros_like(shares), shares)


def jitter_colours(amounts: Any, images: Any) -> Any:
    """Change brightness, contrast, saturation and hue, in this order, by the same amount.

    Brightness, contrast and saturation are multiplied by 1 + amount; hue is shifted by the amount, in turns of the
    colour wheel. Images of one channel have neither saturation nor hue.
    """
    amounts = amounts[:, None, None, None]
    images = blend(0.0, images, 1 + amounts)
    images = blend(tf.reduce_mean(grey(images), axis=[1, 2, 3], keepdims=True), images, 1 + amounts)
    if images.shape[-1] == 1:
        return images
    colours = tf.image.rgb_to_hsv(blend(grey(images), images, 1 + amounts))
    hue = tf.math.floormod(colours[..., :1] + amounts, 1.0)
    return tf.image.hsv_to_rgb(tf.concat([hue, colours[..., 1:]], axis=-1))


def grey(images: Any) -> Any:
    """Return the luminance (N, H, W, 1) of images."""
    return images if images.shape[-1] == 1 else tf.tensordot(images, tf.constant(LUMINANCE)[:, None], axes=1)


def blend(base: Any, images: Any, factor: Any) -> Any:
    """Interpolate or extrapolate from `base` (factor 0) to `images` (factor 1), clipped to [0, 1]."""
    return tf.clip_by_value(base + factor * (images - base), 0.0, 1.0)
