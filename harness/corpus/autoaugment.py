"""The policy that AutoAugment found for CIFAR-10 (Cubuk et al. 2019, table 7 of the appendix).

Magnitudes are those of the authors' code for CIFAR-10, where level 10 would be the maximum. Pixels from outside an
image are mid-grey. The authors' cropping, mirroring and cutout are not part of the policy.

Imports TensorFlow: for the trainer's process only.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from baselines.perturbation_response.geometry import rotate, shear, translate
from baselines.perturbation_response.image_perturbation import blend, grey
from harness.corpus.colours import auto_contrast, equalize, smooth, to_levels

#: Sub-policies: two operations, each with its probability and level; None for an operation without levels.
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

#: Number of operations of a sub-policy, and the side in pixels of the images for which the policy was found.
STEPS, SIDE = 2, 32

_GREY = 0.5


def cifar10_policy(images: Any, seed: Any) -> Any:
    """Apply a random sub-policy to each image, drawn from `seed` (two numbers).

    `images` are float32, (N, H, W, 1 or 3) in [0, 1].
    """
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
    """Change only the images at `positions`."""
    changed = operation(*(tf.gather(values, positions) for values in (images, levels, signs)))
    return tf.tensor_scatter_nd_update(images, positions[:, None], changed)


def _factor(levels: Any) -> Any:
    """Return the blending factor of levels: 0.1 at level 0, 1.9 at level 10."""
    return tf.reshape(0.1 + 0.18 * levels, [-1, 1, 1, 1])


def _shift(levels: Any, signs: Any) -> Any:
    """Return signed shifts of `levels` pixels of 32, as shares of the side."""
    return signs * levels / SIDE


def _contrast(images: Any, levels: Any, _: Any) -> Any:
    mean = tf.reduce_mean(grey(images), axis=[1, 2, 3], keepdims=True)
    return blend(mean, images, _factor(levels))


def _posterize(images: Any, levels: Any, _: Any) -> Any:
    step = tf.reshape(tf.bitwise.left_shift(1, 4 + tf.cast(4 * levels / 10, tf.int32)), [-1, 1, 1, 1])
    return tf.cast(to_levels(images) // step * step, tf.float32) / 255


def _solarize(images: Any, levels: Any, _: Any) -> Any:
    threshold = tf.reshape(256 - tf.cast(256 * levels / 10, tf.int32), [-1, 1, 1, 1])
    return tf.where(to_levels(images) < threshold, images, 1 - images)


#: Operations on a batch: images, levels and signs, one per image.
OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "auto_contrast": lambda images, _levels, _signs: auto_contrast(images),
    "brightness": lambda images, levels, _: blend(tf.zeros_like(images), images, _factor(levels)),
    "color": lambda images, levels, _: blend(grey(images), images, _factor(levels)),
    "contrast": _contrast,
    "equalize": lambda images, _levels, _signs: equalize(images),
    "invert": lambda images, _levels, _signs: 1 - images,
    "posterize": _posterize,
    "rotate": lambda images, levels, signs: rotate(images, signs * 3 * levels, _GREY),
    "sharpness": lambda images, levels, _: blend(smooth(images), images, _factor(levels)),
    "shear_y": lambda images, levels, signs: shear(images, tf.zeros_like(levels), 0.03 * levels * signs, _GREY),
    "solarize": _solarize,
    "translate_x": lambda images, levels, signs: translate(images, _shift(levels, signs), tf.zeros_like(levels), _GREY),
    "translate_y": lambda images, levels, signs: translate(images, tf.zeros_like(levels), _shift(levels, signs), _GREY),
}
