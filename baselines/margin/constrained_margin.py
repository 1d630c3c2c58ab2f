"""Distances from the decision boundary in input space, along the leading principal components of the training inputs.

Mouton, Theunissen and Davel 2023 (arXiv 2308.15466): training inputs hardly vary along most directions. Distances from
the boundary along such directions do not predict generalization, but distances along the leading components do.
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

#: Variances below this fraction of the largest count as zero, because of rounding.
ROUNDING = 1e-10

#: The search for a boundary ends when the margin has fallen to this fraction of its initial value.
REACHED = 0.01


@shared
def leading_components(subject: Subject, number: int, n_samples: int, seed: int) -> Array:
    """Return the leading principal components (number, features) of training inputs, float32; all if there are fewer.

    If `number` is 0, return the components up to the `elbow` of the variances.
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
    """Return the number of descending values (n,) up to and including the elbow.

    The elbow, as in Kneedle (Satopaa et al. 2011), lies farthest below the line from the first to the last value.
    """
    if len(values) < 3 or values[0] == values[-1]:
        return len(values)
    heights = (values - values[-1]) / (values[0] - values[-1])
    return int(np.argmin(heights - np.linspace(1, 0, len(values)))) + 1


def boundary_distances(network: Network, sample: Sample, components: Array, rate: float, n_steps: int) -> Array:
    """Return approximate distances (n,) of examples from the boundary within the span of components (k, features).

    Each step covers the fraction `rate` of the first-order distance to the boundary. At the visited point with the
    smallest margin, the boundary is linearized; the result is an example's distance from this linear boundary, or
    NaN for a wrong prediction or a zero gradient.
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

    Formula: -mean |P u| over correctly classified examples x, P the components as columns, x + P u on the boundary f_y
    = f_j, f the logits, y the true class, j the best other class at each step; u is found in steps along -P'g of length
    rate (f_y - f_j) / |P'g|, g the gradient of f_y - f_j in x. Range: (-inf, 0]. Source: Mouton, Theunissen and Davel
    2023, arXiv 2308.15466. Work: up to 20 backward passes. Refused: no correctly classified example has a gradient
    other than 0, or all inputs are the same.

    Points are not clipped to the range of the inputs. The elbow, class j and the steps are choices of this library;
    they were not compared with the authors' code.

    Args:
        n_components: principal components; 0 for the number up to the elbow of the variances.
        pca_samples: training examples for the principal components.
        rate: fraction of the first-order distance that a step covers.
        n_steps: largest number of steps; 1 gives the first-order distance.
    """
    components = leading_components(subject, n_components, pca_samples, seed)
    sample = subject.sample(n_samples, seed)
    found = boundary_distances(subject.network, sample, components, rate, n_steps)
    if np.isnan(found).all():
        raise MeasureUnavailable("needs examples that are classified correctly and have a gradient, which are lacking")
    return -float(np.nanmean(found))
