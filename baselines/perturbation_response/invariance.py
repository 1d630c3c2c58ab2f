"""Accuracy of a network on training images that are rotated, shifted, or changed in colour.

Source: Schiff et al. 2021, arXiv 2106.04765.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array, Sample
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.network import INPUT
from baselines.perturbation_response.image_perturbation import jitter_colours, rotate, translate_x, translate_y
from baselines.perturbation_response.mixing import is_right
from baselines.perturbation_response.response_curve import accuracies_of, gi_score, grid, mean_error


@dataclass(frozen=True)
class Perturbation:
    """A perturbation of images, and the range of its magnitudes in Schiff et al. 2021."""

    name: str
    change: Callable[[Any, Any], Any]  #: returns changed images for magnitudes (N,) and images (N, H, W, C)
    low: float
    high: float
    meaning: str  #: what happens to images, such as "rotated"


#: Perturbations by name. Magnitudes are degrees counter-clockwise, fractions of width or height, and amounts of jitter.
PERTURBATIONS = {
    found.name: found
    for found in (
        Perturbation("rotation", rotate, -180.0, 179.0, "rotated"),
        Perturbation("translate_x", translate_x, -0.5, 0.5, "shifted to the side"),
        Perturbation("translate_y", translate_y, -0.5, 0.5, "shifted up or down"),
        Perturbation("color_jitter", jitter_colours, -0.25, 0.25, "changed in colour"),
    )
}


@shared
def invariance_curve(subject: Subject, name: str, magnitudes: tuple[float, ...], n_samples: int, seed: int) -> Array:
    """Return accuracies (k,), as `Fraction`s, on training images perturbed by each of the magnitudes (k,)."""
    right = invariance_responses(subject, name, magnitudes, n_samples, seed)
    return accuracies_of(right.sum(axis=0), len(right))


def invariance_responses(
    subject: Subject, name: str, magnitudes: tuple[float, ...], n_samples: int, seed: int
) -> Array:
    """Return whether each of n random images is classified correctly at each of the magnitudes (k,): shape (n, k)."""
    sample = subject.sample(n_samples, seed)
    return _is_right(subject, name, sample, np.tile(magnitudes, (len(sample), 1)))


def _is_right(subject: Subject, name: str, sample: Sample, magnitudes: Array) -> Array:
    network = subject.network
    shape = network.shape(INPUT)
    if len(shape) != 3:
        raise MeasureUnavailable(f"needs images (height, width, channels), which inputs of shape {shape} are not")
    if name == "color_jitter" and shape[-1] not in (1, 3, 4):
        raise MeasureUnavailable(f"needs images with 1, 3 or 4 channels, which inputs of shape {shape} lack")
    ends = [tf.constant(values, tf.float32) for values in _black_and_white(subject)]

    def change(magnitudes: Any, images: Any) -> Any:
        return _compiled(name, shape)(magnitudes, images, *ends)

    return is_right(network, change, [sample.inputs], sample.labels, magnitudes)


@functools.cache
def _compiled(name: str, shape: tuple[int, ...]) -> Any:
    changed = 3 if shape[-1] == 4 else shape[-1]  # a fourth channel is not a colour, and stays

    def change(magnitudes: Any, images: Any, black: Any, white: Any) -> Any:
        black, white = black[:changed], white[:changed]
        unit = (images[..., :changed] - black) / (white - black)
        new = PERTURBATIONS[name].change(magnitudes, unit) * (white - black) + black
        return tf.concat([new, images[..., changed:]], axis=-1)

    shapes = ((None,), (None, *shape), shape[-1:], shape[-1:])
    specs = [tf.TensorSpec(some, tf.float32) for some in shapes]
    return tf.function(change, input_signature=specs, autograph=False).get_concrete_function()


@shared
def _black_and_white(subject: Subject) -> tuple[Array, Array]:
    """Return black and white (channels,): 0 and 1, or each channel's extremes if pixels are not in [0, 1]."""
    images = subject.examples.inputs
    axes = tuple(range(images.ndim - 1))
    black, white = images.min(axis=axes), images.max(axis=axes)
    if black.min() >= 0 and white.max() <= 1:
        return np.zeros_like(black), np.ones_like(white)
    return black, np.where(white > black, white, black + 1)


def _register_gi(perturbation: Perturbation) -> None:
    @measure(Need.LABELS, Need.QUANTITIES, name=f"gi_{perturbation.name}", changed=perturbation.meaning)
    def gi(
        subject: Subject, *, low: float = perturbation.low, high: float = perturbation.high, n_alphas: int = 25,
        n_samples: int = 2048, symmetric: bool = False, seed: int = 0, method: str = "trapezoid",
    ) -> float:  # fmt: skip
        """Gi-score: large if accuracy falls much, and early, when images are $changed.

        Formula: 1 - 2 int_0^1 int_0^t A(s) ds dt, A(t) = accuracy at magnitude low + t (high - low). Range: [0, 1]; 0
        for a network that is always right. Work: 25 forward passes.

        Low magnitudes have the largest weight, so the score changes if the range of magnitudes is mirrored.

        Args:
            symmetric: take the mean of two scores, from 0 to `high` and from 0 to `low`.
        """

        def score(magnitudes: Array, accuracies: Array) -> float:
            return gi_score(magnitudes, accuracies, method)

        if not symmetric:
            magnitudes = grid(low, high, n_alphas)
            return score(magnitudes, invariance_curve(subject, perturbation.name, tuple(magnitudes), n_samples, seed))
        if not low < 0 < high:
            raise ValueError(f"symmetric: expected low < 0 < high, found {low} and {high}")
        side = n_alphas // 2 + 1
        up, down = grid(0, high, side), -grid(0, -low, side)
        magnitudes = np.concatenate([down[:0:-1], up])
        accuracies = invariance_curve(subject, perturbation.name, tuple(magnitudes), n_samples, seed)
        return (score(up, accuracies[side - 1 :]) + score(down, accuracies[side - 1 :: -1])) / 2


def _register_mean_error(perturbation: Perturbation) -> None:
    @measure(Need.LABELS, Need.QUANTITIES, name=f"pr_mean_error_{perturbation.name}", changed=perturbation.meaning)
    def pr_mean_error(
        subject: Subject, *, low: float = perturbation.low, high: float = perturbation.high, n_alphas: int = 25,
        n_samples: int = 2048, seed: int = 0,
    ) -> float:  # fmt: skip
        """Mean error over all magnitudes when images are $changed.

        Formula: 1 - mean over t of A(t), A(t) = accuracy at magnitude low + t (high - low). Range: [0, 1]. Work: 25
        forward passes.
        """
        magnitudes = tuple(grid(low, high, n_alphas))
        return mean_error(invariance_curve(subject, perturbation.name, magnitudes, n_samples, seed))


def _register_augmented_subset_error(perturbation: Perturbation) -> None:
    name = f"augmented_subset_error_{perturbation.name}"

    @measure(Need.LABELS, Need.QUANTITIES, name=name, changed=perturbation.meaning)
    def augmented_subset_error(
        subject: Subject, *, low: float = perturbation.low, high: float = perturbation.high, share: float = 0.1,
        n_least: int = 2048, seed: int = 0,
    ) -> float:  # fmt: skip
        """Error on a part of the training images, each $changed at random.

        Formula: 1 - accuracy at magnitudes U(low, high), on max(m / 10, 2048) images (images of a smaller set are
        repeated). Range: [0, 1]. Work: 1 forward pass over max(m / 10, 2048) examples. Draws: depend on the order of
        examples.

        Schiff et al. take a tenth of the training set, 5,000 images; a tenth of a small set would be too noisy.

        Args:
            share: fraction of the training set, in (0, 1].
            n_least: smallest number of perturbed images. If the training set is smaller, each image is taken at several
                magnitudes.
        """
        number = max(round(share * len(subject.examples)), n_least, 1)
        sample = subject.sample(number, seed)
        rng = stream("magnitudes", seed)
        magnitudes = rng.uniform(low, high, (len(sample), math.ceil(number / len(sample))))
        right = _is_right(subject, perturbation.name, sample, magnitudes)
        return float(1 - Fraction(int(right.sum()), right.size))


for _register in (_register_gi, _register_augmented_subset_error, _register_mean_error):
    for _perturbation in PERTURBATIONS.values():
        _register(_perturbation)
