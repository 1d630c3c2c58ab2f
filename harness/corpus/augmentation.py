"""Changes images at random: training batches, and the test set if a recipe requests it.

Batches are float32, (N, H, W, C) in [0, 1]. A fourth channel stays unchanged.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from baselines.perturbation_response.geometry import transform
from baselines.perturbation_response.image_perturbation import jitter_colours, rotate, translate_x, translate_y
from harness.corpus.autoaugment import cifar10_policy
from scoring.streams import stream

#: Function of magnitudes (N,) and a batch that returns the changed batch.
Perturbation = Callable[[Any, Any], Any]

#: Number of black pixels on each side of an image before a random crop.
PADDING = 4

#: Number of images of the test set that are changed at once.
BATCH = 1000


def augment(
    name: str, share: float, level: float, perturbation_range: tuple[float, float] | None
) -> Callable[[Any], Any]:
    """Return a function that changes a batch at random, for `tf.data` or a compiled training step.

    The function's generator is seeded from TensorFlow's global seed. Random numbers depend on the order of calls, so a
    map of `tf.data` is repeatable only if it is not parallel.

    Args:
        name: crop_flip, cifar10_policy, or a perturbation in `PERTURBATIONS`, whose magnitudes are drawn uniformly.
        share: probability that an image is changed.
        level: factor of the perturbations' magnitudes.
        perturbation_range: lowest and highest magnitude at level 1, for perturbations.
    """
    with tf.device("CPU:0"):  # tf.data runs on the CPU
        generator = tf.random.Generator.from_seed(tf.random.uniform([], maxval=2**62, dtype=tf.int64))
    change = _random_change(name, level, perturbation_range)

    def augmented(images: Any) -> Any:
        seeds = generator.make_seeds(2)
        changed = tf.concat([change(images[..., :3], seeds[:, 0]), images[..., 3:]], axis=-1)
        chosen = tf.random.stateless_uniform([tf.shape(images)[0], 1, 1, 1], seeds[:, 1]) < share
        return tf.ensure_shape(tf.where(chosen, changed, images), images.shape)

    return augmented


def perturb(
    images: NDArray[np.float32], name: str, perturbation_range: tuple[float, float], seed: int
) -> NDArray[np.float32]:
    """Change each image by the perturbation `name`, with a magnitude drawn uniformly from the range."""
    magnitudes = stream("test perturbation", seed).uniform(*perturbation_range, len(images)).astype(np.float32)
    changed = images.copy()
    for start in range(0, len(images), BATCH):
        part = slice(start, start + BATCH)
        changed[part, ..., :3] = PERTURBATIONS[name](tf.constant(magnitudes[part]), tf.constant(images[part, ..., :3]))
    return changed


def _random_change(
    name: str, level: float, perturbation_range: tuple[float, float] | None
) -> Callable[[Any, Any], Any]:
    """Return the change `name` (see `augment`) as a function of a batch and a seed (2,)."""
    if name == "crop_flip":
        return _crop_flip
    if name == "cifar10_policy":
        return cifar10_policy
    assert perturbation_range is not None  # the recipe was checked
    perturbation, (low, high) = PERTURBATIONS[name], perturbation_range

    def change(images: Any, seed: Any) -> Any:
        magnitudes = tf.random.stateless_uniform([tf.shape(images)[0]], seed, level * low, level * high)
        return perturbation(magnitudes, images)

    return change


def _crop_flip(images: Any, seed: Any) -> Any:
    """Shift each image by up to `PADDING` pixels in both directions, and mirror it with probability 1/2."""
    number, width = tf.shape(images)[0], tf.cast(tf.shape(images)[2], tf.float32)
    draws = tf.random.stateless_uniform([3, number], seed)
    right, down = tf.unstack(tf.floor(draws[:2] * (2 * PADDING + 1)) - PADDING)
    mirrored = draws[2] < 0.5
    side = tf.where(mirrored, -1.0, 1.0)
    start = tf.where(mirrored, width - 1 - right, right)
    zero, one = tf.zeros([number]), tf.ones([number])
    return transform(images, (side, zero, start, zero, one, down), "NEAREST")


#: Perturbations with a magnitude (Schiff et al. 2021, section 4.2): degrees counter-clockwise; fraction of the width to
#: the right; fraction of the height down; amount of brightness, contrast, saturation and hue.
PERTURBATIONS: dict[str, Perturbation] = {
    "rotation": rotate,
    "translate_x": translate_x,
    "translate_y": translate_y,
    "color_jitter": jitter_colours,
}
