"""Distances from the decision boundary in the input, along the leading principal components of the training inputs.

Mouton, Theunissen and Davel 2023 (arXiv 2308.15466): in most directions of the input space nothing lies, so that the
distance of the nearest boundary there says nothing; along the components that explain most of the variance it does.
"""

from typing import Any

import numpy as np

from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.product import product
from baselines.core.sample import Array, Sample
from baselines.core.subject import Subject, shared
from baselines.margin.layer_margin import PASSES, output_margins
from baselines.network import Network, joined

#: Components whose variance is below this part of the largest are rounding.
ROUNDING = 1e-10

#: The search for an example's boundary ends where the margin is this part of what it was.
REACHED = 0.01


@shared
def leading_components(subject: Subject, number: int, n_samples: int, seed: int) -> Array:
    """Return the leading principal components (number, features) of training inputs, float32; all if there are fewer.

    0 takes as many as there are up to the elbow of their variances.
    """
    inputs = subject.sample(n_samples, seed).inputs
    rows = inputs.reshape(len(inputs), -1)
    rows = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    is_wide = rows.shape[0] < rows.shape[1]
    squares, vectors = np.linalg.eigh(product(rows, rows.T) if is_wide else product(rows.T, rows))
    squares, vectors = squares[::-1], vectors[:, ::-1]
    n_positive = int(np.sum(squares > ROUNDING * max(squares[0], 0)))
    if n_positive == 0:
        raise MeasureUnavailable("needs inputs that differ, which this training set lacks")
    number = min(number or elbow(squares[:n_positive]), n_positive)
    leading = vectors[:, :number]
    components = product(rows.T, leading) / np.sqrt(squares[:number]) if is_wide else leading
    return np.ascontiguousarray(components.T, dtype=np.float32)


def elbow(values: Array) -> int:
    """Number of descending values (n,) up to the elbow: the one that is farthest below the line from first to last.

    This is the point that Kneedle (Satopaa et al. 2011) finds on a curve with one elbow.
    """
    if len(values) < 3 or values[0] == values[-1]:
        return len(values)
    heights = (values - values[-1]) / (values[0] - values[-1])
    return int(np.argmin(heights - np.linspace(1, 0, len(values)))) + 1


def boundary_distances(network: Network, sample: Sample, components: Array, rate: float, n_steps: int) -> Array:
    """Distances (n,) of examples from their nearest boundary within the span of components (k, features), about.

    Each step goes `rate` of the way to the boundary as the gradients at the place show it. The distance is that of the
    boundary as shown from the place with the least margin. NaN for wrong answers and where there is no gradient.
    """
    moved = np.zeros((len(sample), len(components)))
    least, found, first = np.full(len(sample), np.inf), np.full(len(sample), np.nan), np.zeros(len(sample))
    left = np.arange(len(sample))
    for step in range(n_steps):
        places = sample.inputs[left] + (moved[left] @ components).reshape(-1, *sample.inputs.shape[1:])
        margins, slopes = _margins(network, places.astype(np.float32), sample.labels[left], components)
        if step == 0:
            first[:] = margins
        squares = np.sum(slopes**2, axis=1)
        is_open = (first[left] > 0) & (squares > 0)
        left, margins, slopes = left[is_open], margins[is_open], slopes[is_open]
        ways = -slopes * (margins / squares[is_open])[:, None]
        is_nearer = np.abs(margins) < least[left]
        nearer = left[is_nearer]
        least[nearer] = np.abs(margins[is_nearer])
        found[nearer] = np.linalg.norm(moved[nearer] + ways[is_nearer], axis=1)
        moved[left] += rate * ways
        left = left[least[left] > REACHED * first[left]]
        if not len(left):
            break
    return found


def _margins(network: Network, images: Array, labels: Array, components: Array) -> tuple[Array, Array]:
    """Margins (n,) and their gradients' parts along rows of `components` (n, components)."""

    def run(images: Any, labels: Any, components: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(images)
            margin = output_margins(network.logits(images), labels)
        slopes = tape.gradient(margin, images)
        return margin, tf.matmul(tf.reshape(slopes, (tf.shape(slopes)[0], -1)), components, transpose_b=True)

    batches = network.in_batches(
        "margins along components", run, [images, labels], components, size=network.batch_size_of(PASSES), often=True
    )
    margins, slopes = (array.astype(np.float64) for array in joined(batches))
    return margins, slopes


@measure(Need.LABELS, Need.GRADIENTS, Need.QUANTITIES)
def constrained_margin(
    subject: Subject, *, n_samples: int = 500, n_components: int = 0, pca_samples: int = 1000, rate: float = 0.25,
    n_steps: int = 20, seed: int = 0,
) -> float:  # fmt: skip
    """Minus the mean distance from the boundary along the leading principal components of the inputs.

    Formula: -mean |P d|, d the way to f_y = max f_j by steps (f_y - f_j) P'g / |P'g|^2, g = d (f_y - f_j) / d x. Range:
    (-inf, 0]. Source: Mouton, Theunissen and Davel 2023, arXiv 2308.15466. Work: up to 20 B. Refused: no example is
    answered rightly and has a gradient, or all inputs are the same.

    Constrained margin, of right answers. The rival class is the one with the largest other logit, at every step anew.
    Inputs are not kept in their range. How the elbow is found, the rival and the steps are choices of this library, not
    compared with the authors' code.

    Args:
        n_components: principal components; 0 for as many as up to the elbow of their variances.
        pca_samples: training examples that the components are taken from.
        rate: part of the way to the boundary that a step goes.
        n_steps: steps of an example at most; 1 gives the first-order distance.
    """
    components = leading_components(subject, n_components, pca_samples, seed)
    sample = subject.sample(n_samples, seed)
    found = boundary_distances(subject.network, sample, components, rate, n_steps)
    if np.isnan(found).all():
        raise MeasureUnavailable("needs examples that are classified correctly and have a gradient, which are lacking")
    return -float(np.nanmean(found))
