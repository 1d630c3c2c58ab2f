"""The intrinsic dimension of hidden layers: in trained networks it rises in the first and falls in the last layers.

Source: Ansuini, Laio, Macke and Zoccolan 2019, arXiv 1905.12784. Work: d forward passes over 512 examples.
"""

import contextlib
import math

import numpy as np

from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.memory import require_memory
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.network.hidden import hidden_positions
from baselines.representation.dimension import dimension
from baselines.representation.penultimate import penultimate

_LACKING = "needs layers in which the two nearest of three examples are not equally far, which are lacking"


@shared
def dimensions(subject: Subject, n_samples: int, fraction: float, seed: int) -> Array:
    """Return intrinsic dimensions of all hidden layers, then of the penultimate representation; NaN if undefined."""
    network, sample = subject.network, subject.sample(n_samples, seed)
    found = []
    for place in dict.fromkeys(hidden_positions(network)):
        needed = 4 * len(sample) * math.prod(network.shape(place))
        require_memory(needed, f"what {len(sample)} examples are in a layer", "try a smaller n_samples")
        outputs = network.outputs(sample.inputs, [place])[0]
        found.append(_dimension(outputs.reshape(len(sample), -1), fraction))
    found.append(_dimension(penultimate(subject, n_samples, seed)[0], fraction))
    if np.isnan(found).all():
        raise MeasureUnavailable(_LACKING)
    return np.array(found)


def _dimension(points: Array, fraction: float) -> float:
    with contextlib.suppress(MeasureUnavailable):
        return dimension(points, fraction)
    return math.nan


@measure(Need.DATA)
def intrinsic_dimension_peak(subject: Subject, *, n_samples: int = 512, fraction: float = 0.9, seed: int = 0) -> float:
    """Largest intrinsic dimension of a hidden representation.

    Formula: max over hidden layers of the TwoNN dimension (see intrinsic_dimension). Range: [0, inf). Refused: no layer
    is left.

    Representations are outputs of hidden layers after their activations. Layers with fewer than three usable examples
    are left out. With few examples the estimate is too low, the more so the higher the dimension. Ansuini et al.
    compare architectures by the last layer only.
    """
    return float(np.nanmax(dimensions(subject, n_samples, fraction, seed)))


@measure(Need.DATA)
def intrinsic_dimension_last_to_peak(
    subject: Subject, *, n_samples: int = 512, fraction: float = 0.9, seed: int = 0
) -> float:
    """Intrinsic dimension of the penultimate representation, divided by the largest intrinsic dimension of a layer.

    Formula: D / max(D, max_i D_i), D the TwoNN dimension of the penultimate representation, D_i of hidden layer i.
    Range: [0, 1]; 1 if all dimensions are 0. Refused: fewer than three examples are usable for D.

    In the trained networks of Ansuini et al. the dimension falls towards the last layer, so the value is small. In
    networks trained on random labels, the dimension does not fall.
    """
    found = dimensions(subject, n_samples, fraction, seed)
    if math.isnan(found[-1]):
        raise MeasureUnavailable(_LACKING)
    peak = float(np.nanmax(found))
    return float(found[-1]) / peak if peak else 1.0
