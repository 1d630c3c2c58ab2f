"""Cognitive neural activation (CNA): how the activity of deep layers varies with the complexity of the input.

For an image x, alpha(x) is the entropy of its pixels. beta(x) is the slope, over depth, of the sums of each layer's
pre-activations.

Refused: the slope has fewer than two layers.

statistic: the margin gamma_m is the largest ("max") in a random tenth of the examples, or the 10th percentile ("p10").
space: margins are differences of "probabilities" or of "logits".
include_output_layer: include the last weight layer in the slope; the authors' code does not.
n_bins: bins of the histogram of pixels, equal in width from the smallest to the largest pixel of the sample.
parity_polygon: compute the area as the authors' code does: parts on both sides of a crossing of the curves cancel.
"""

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.outputs import log_probabilities, margins
from baselines.core.sample import Array, Sample
from baselines.core.streams import stream
from baselines.core.subject import Subject, shared
from baselines.neural_activation.area import area_between
from baselines.neural_activation.curve import activity, augmented, correlation, input_entropies, slopes


@measure(Need.QUANTITIES)
def cna(
    subject: Subject, *, include_output_layer: bool = False, n_bins: int = 1000, n_samples: int = 10_000, seed: int = 0
) -> float:
    """Minus the correlation between the input's entropy and the slope of activations over depth.

    Formula: -corr(alpha, beta), alpha entropies of pixels, beta slopes over depth of the layers' summed
    pre-activations. Range: [-1, 1]; 0 if alpha or beta is constant. Source: Gain and Siegelmann 2020, Abstraction
    Mechanisms Predict Generalization in Deep Neural Networks (ICML), eq. 2.

    Bins of pixels are found in float32, so a pixel at the edge of a bin may count in the next bin. Images of a few
    hundred pixels leave most bins empty; the value, even its sign, can then depend on `n_bins`.
    """
    beta = slopes(_training(subject, n_samples, seed)[1], include_output_layer)
    return -correlation(_entropies(subject, n_bins, n_samples, seed), beta)


@measure(Need.QUANTITIES)
def cna_area(
    subject: Subject, *, include_output_layer: bool = False, n_bins: int = 1000,
    parity_polygon: bool = False, n_samples: int = 10_000, seed: int = 0,
) -> float:  # fmt: skip
    """Area between two curves of slope over entropy: one of training images, one of augmented training images.

    Formula: int |beta_train - beta_heldout| d alpha, alpha entropies of pixels, beta slopes over depth of the
    layers' summed pre-activations. Range: [0, 1]. Source: Gain and Siegelmann 2020, Abstraction Mechanisms Predict
    Generalization in Deep Neural Networks (ICML), eq. 5. Work: 2 forward passes. Draws: depend on the order of
    input dimensions and of examples.

    Gain and Siegelmann compare with held-out images. Measures have no held-out images; training images that are
    randomly flipped, shifted and noisy replace them: half of the images are mirrored, shifts along both axes are up to
    4 pixels and reflect the image at its border, and the noise is normal with a standard deviation of 0.05 times the
    range of all pixels. As in the paper, alpha is the entropy before augmentation (see cna). For held-out data, call
    `area_between` on two `curve.curve`s.

    The paper leaves smoothing and scale open. For each curve, points of equal alpha are averaged, and alpha and beta
    are running means over 25 points in the order of alpha, or a quarter of the points if there are fewer than 100. The
    alphas of both curves are scaled to [0, 1] together, and so are the betas. Both curves are interpolated linearly at
    100 equidistant alphas of their common range. Between these alphas, the difference is taken as linear, and its
    absolute value is integrated exactly. The area is 1 without a common range, and 0 if all alphas or all betas are
    equal.
    """
    return _area(subject, include_output_layer, n_bins, parity_polygon, n_samples, seed)


@measure(Need.LABELS, Need.QUANTITIES)
def cna_margin(
    subject: Subject, *, statistic: str = "max", space: str = "probabilities",
    include_output_layer: bool = False, n_bins: int = 1000, parity_polygon: bool = False, n_samples: int = 10_000,
    seed: int = 0,
) -> float:  # fmt: skip
    """cna_area times the network's margin.

    Formula: gamma_m cna_area, gamma_m the margin (parameters statistic, space). Range: [-1, 1] for margins of
    probabilities. Source: Gain and Siegelmann 2020, Abstraction Mechanisms Predict Generalization in Deep Neural
    Networks (ICML), eq. 7. Work: 2 forward passes. Draws: depend on the order of input dimensions and of examples.

    If a network fits its training set, its margin is about 1, and the value about that of `cna_area`.
    """
    area = _area(subject, include_output_layer, n_bins, parity_polygon, n_samples, seed)
    return area * _margin(subject, statistic, space, n_samples, seed)


@measure(Need.LABELS, Need.QUANTITIES)
def cna_area_over_margin(
    subject: Subject, *, statistic: str = "max", space: str = "probabilities", margin_floor: float = 1e-6,
    include_output_layer: bool = False, n_bins: int = 1000, parity_polygon: bool = False,
    n_samples: int = 10_000, seed: int = 0,
) -> float:  # fmt: skip
    """cna_area divided by the network's margin.

    Formula: cna_area / max(gamma_m, margin_floor), gamma_m the margin (parameters statistic, space). Range:
    [0, 1 / margin_floor]. Source: Gain and Siegelmann 2020, Abstraction Mechanisms Predict Generalization in Deep
    Neural Networks (ICML), eq. 5 and 6. Work: 2 forward passes. Draws: depend on the order of input dimensions and of
    examples.

    Args:
        margin_floor: replaces smaller and negative margins.
    """
    area = _area(subject, include_output_layer, n_bins, parity_polygon, n_samples, seed)
    return area / max(_margin(subject, statistic, space, n_samples, seed), margin_floor)


@shared
def _training(subject: Subject, n_samples: int, seed: int) -> tuple[Sample, Array, Array]:
    sample = subject.sample(n_samples, seed)
    return sample, *activity(subject.network, sample.inputs)


@shared
def _entropies(subject: Subject, n_bins: int, n_samples: int, seed: int) -> Array:
    images = subject.sample(n_samples, seed).inputs
    return input_entropies(images, n_bins, (float(images.min()), float(images.max())))


@shared
def _augmented_sums(subject: Subject, n_samples: int, seed: int) -> Array:
    rng = stream("augmentation of activities", seed)
    return activity(subject.network, augmented(subject.sample(n_samples, seed).inputs, rng))[0]


@shared
def _area(
    subject: Subject, include_output_layer: bool, n_bins: int, parity_polygon: bool, n_samples: int,
    seed: int,
) -> float:  # fmt: skip
    alpha = _entropies(subject, n_bins, n_samples, seed)
    sums = _training(subject, n_samples, seed)[1], _augmented_sums(subject, n_samples, seed)
    trained, heldout = ((alpha, slopes(some, include_output_layer)) for some in sums)
    return area_between(trained, heldout, parity_polygon=parity_polygon)


def _margin(subject: Subject, statistic: str, space: str, n_samples: int, seed: int) -> float:
    sample, _, logits = _training(subject, n_samples, seed)
    if space not in ("probabilities", "logits"):
        raise ValueError(f"space: expected probabilities or logits, found {space}")
    answers = logits.astype(np.float64)
    found = margins(np.exp(log_probabilities(answers)) if space == "probabilities" else answers, sample.labels)
    tenth = max(len(found) // 10, 1)
    if statistic == "max":
        return float(found[:tenth].max())  # examples are in random order
    if statistic != "p10":
        raise ValueError(f"statistic: expected max or p10, found {statistic}")
    return float(np.partition(found, tenth - 1)[tenth - 1])
