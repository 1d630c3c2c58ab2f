"""The policy that AutoAugment found for CIFAR-10 (Cubuk et al. 2019, table 7 of the appendix).

Magnitudes are as in Cubuk et al.'s code for CIFAR-10, where level 10 is the maximum. Pixels from outside an image are
mid-grey. Their code also crops, mirrors and cuts out, which is not part of the policy.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from baselines.perturbation_response.geometry import rotate, shear, translate
from baselines.perturbation_response.image_perturbation import blend, grey

#: Sub-policies of two operations, each with name, probability and level; None for operations without levels.
POLICY: list[list[tuple[str, float, int | None]]] = [
    [("invert", 0.1, None), ("contrast", 0.2, 6)],
    [("rotate", 0.7, 2), ("translate_x", 0.3, 9)],
    [("sharpness", 0.8, 1), ("sharpness", 0.9, 3)],
    [("shear_y", 0.5, 8), ("translate_y", 0.7, 9)],
    [("auto_contrast", 0.5, None), ("equalize", 0.9, None)],
    [("shear_y", 0.2, 7), ("posterize", 0.3, 7)],
    [("color", 0.4, 3), ("brightness", 0.6, 7)],
    [("sharpness", 0.3, 9), ("brightness", 0.7, 9)],
    [("equalize", 0.6, None), ("equalize", 0.5, None)],
    [("contrast", 0.6, 7), ("sharpness", 0.6, 5)],
    [("color", 0.7, 7), ("translate_x", 0.5, 8)],
    [("equalize", 0.3, None), ("auto_contrast", 0.4, None)],
    [("translate_y", 0.4, 3), ("sharpness", 0.2, 6)],
    [("brightness", 0.9, 6), ("color", 0.2, 8)],
    [("solarize", 0.5, 2), ("invert", 0.0, None)],
    [("equalize", 0.2, None), ("auto_contrast", 0.6, None)],
    [("equalize", 0.2, None), ("equalize", 0.6, None)],
    [("color", 0.9, 9), ("equalize", 0.6, None)],
    [("auto_contrast", 0.8, None), ("solarize", 0.2, 8)],
    [("brightness", 0.1, 3), ("color", 0.7, 0)],
    [("solarize", 0.4, 5), ("auto_contrast", 0.9, None)],
    [("translate_y", 0.9, 9), ("translate_y", 0.7, 9)],
    [("auto_contrast", 0.9, None), ("solarize", 0.8, 3)],
    [("equalize", 0.8, None), ("invert", 0.1, None)],
    [("translate_y", 0.7, 9), ("auto_contrast", 0.9, None)],
]

#: Number of operations of a sub-policy, and side in pixels of the images for which the policy was found.
STEPS, SIDE = 2, 32

_GREY = 0.5


def cifar10_policy(images: Any, seed: Any) -> Any:
    """Change each image by a random sub-policy; images are float32 (N, H, W, 1 or 3) in [0, 1], `seed` is (2,)."""
    number = tf.shape(images)[0]
    draws = tf.random.stateless_uniform([1 + 2 * STEPS, number], seed)
    chosen = tf.cast(draws[0] * len(POLICY), tf.int32)
    for step in range(STEPS):
        names, probabilities, levels = zip(*(operations[step] for operations in POLICY), strict=True)
        active = draws[1 + 2 * step] < tf.gather(tf.constant(probabilities), chosen)
        signs = tf.where(draws[2 + 2 * step] < 0.5, -1.0, 1.0)
        drawn = tf.gather(tf.constant([float(level or 0) for level in levels]), chosen)
        for name in sorted(set(names)):
            is_chosen = tf.gather(tf.constant([other == name for other in names]), chosen)
            images = _at(tf.where(is_chosen & active)[:, 0], OPERATIONS[name], images, drawn, signs)
    return images


def _at(positions: Any, operation: Callable[..., Any], images: Any, levels: Any, signs: Any) -> Any:
    changed = operation(*(tf.gather(values, positions) for values in (images, levels, signs)))
    return tf.tensor_scatter_nd_update(images, positions[:, None], changed)


def _factor(levels: Any) -> Any:
    return tf.reshape(0.1 + 0.18 * levels, [-1, 1, 1, 1])


def _shift(levels: Any, signs: Any) -> Any:
    return signs * levels / SIDE


def _contrast(images: Any, levels: Any, _: Any) -> Any:
    mean = tf.reduce_mean(grey(images), axis=[1, 2, 3], keepdims=True)
    return blend(mean, images, _factor(levels))


def _posterize(images: Any, levels: Any, _: Any) -> Any:
    step = tf.reshape(tf.bitwise.left_shift(1, 4 + tf.cast(4 * levels / 10, tf.int32)), [-1, 1, 1, 1])
    return tf.cast(_to_levels(images) // step * step, tf.float32) / 255


def _solarize(images: Any, levels: Any, _: Any) -> Any:
    threshold = tf.reshape(256 - tf.cast(256 * levels / 10, tf.int32), [-1, 1, 1, 1])
    return tf.where(_to_levels(images) < threshold, images, 1 - images)


#: Name of an operation -> function of images, levels (N,) and signs (N,).
OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "auto_contrast": lambda images, _levels, _signs: _auto_contrast(images),
    "brightness": lambda images, levels, _: blend(tf.zeros_like(images), images, _factor(levels)),
    "color": lambda images, levels, _: blend(grey(images), images, _factor(levels)),
    "contrast": _contrast,
    "equalize": lambda images, _levels, _signs: _equalize(images),
    "invert": lambda images, _levels, _signs: 1 - images,
    "posterize": _posterize,
    "rotate": lambda images, levels, signs: rotate(images, signs * 3 * levels, _GREY),
    "sharpness": lambda images, levels, _: blend(_smooth(images), images, _factor(levels)),
    "shear_y": lambda images, levels, signs: shear(images, tf.zeros_like(levels), 0.03 * levels * signs, _GREY),
    "solarize": _solarize,
    "translate_x": lambda images, levels, signs: translate(images, _shift(levels, signs), tf.zeros_like(levels), _GREY),
    "translate_y": lambda images, levels, signs: translate(images, tf.zeros_like(levels), _shift(levels, signs), _GREY),
}


def _smooth(images: Any) -> Any:
    """Average each pixel (weight 5) with the eight pixels around it (weight 1). Border pixels stay unchanged."""
    channels = images.shape[-1]
    kernel = tf.constant([[1, 1, 1], [1, 5, 1], [1, 1, 1]], tf.float32)[:, :, None, None] / 13
    smoothed = tf.nn.depthwise_conv2d(images, tf.tile(kernel, [1, 1, channels, 1]), [1] * 4, "SAME")
    height, width = tf.unstack(tf.shape(images)[1:3])
    inner = tf.pad(tf.ones([height - 2, width - 2], tf.bool), [[1, 1], [1, 1]])
    return tf.where(inner[None, :, :, None], smoothed, images)


def _auto_contrast(images: Any) -> Any:
    """Stretch each channel of each image to [0, 1]; constant channels stay unchanged."""
    low = tf.reduce_min(images, axis=[1, 2], keepdims=True)
    high = tf.reduce_max(images, axis=[1, 2], keepdims=True)
    return tf.where(high > low, tf.math.divide_no_nan(images - low, high - low), images)


def _equalize(images: Any) -> Any:
    shape = tf.shape(images)
    levels = tf.reshape(tf.transpose(_to_levels(images), [0, 3, 1, 2]), [-1, shape[1] * shape[2]])
    counts = tf.math.bincount(levels, minlength=256, maxlength=256, axis=-1)
    highest = tf.reduce_max(levels, axis=1, keepdims=True)
    step = (shape[1] * shape[2] - tf.gather(counts, highest, batch_dims=1)) // 255
    table = (tf.cumsum(counts, axis=1, exclusive=True) + step // 2) // tf.maximum(step, 1)
    table = tf.where(step > 0, tf.minimum(table, 255), tf.range(256)[None])
    flat = tf.cast(tf.gather(table, levels, batch_dims=1), tf.float32) / 255
    return tf.transpose(tf.reshape(flat, [shape[0], shape[3], shape[1], shape[2]]), [0, 2, 3, 1])


def _to_levels(images: Any) -> Any:
    return tf.cast(tf.round(images * 255), tf.int32)
