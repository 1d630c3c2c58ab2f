"""How far the classes have collapsed to points in the penultimate representation."""

from collections.abc import Iterator

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.product import product
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.representation.penultimate import penultimate_by_class

#: The squared distance of two classes is taken to be at least this part of their variances.
CLOSEST = 1e-12

#: Examples that are summed, or whose class' mean is subtracted, at once.
ROWS = 256

#: Directions in which the class means vary by less than this part of the largest are rounding.
ROUNDING = 1e-6


@measure(Need.LABELS)
def cdnv(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Class-distance normalized variance of the penultimate representation.

    Formula: mean over pairs of classes of (v_c + v_c') / (2 |mu_c - mu_c'|^2), v_c = E |h - mu_c|^2. Range: [0, 5e11];
    0 where every class is a single point. Source: Galanti, Gyorgy and Hutter 2022, arXiv 2112.15121. Refused: fewer
    than two classes count.

    At chance accuracy it says nothing: a network in which all classes are one point has the best value, too.

    Classes with fewer than two examples in the sample do not count.
    """
    features, labels = penultimate_by_class(subject, n_samples, seed)
    means, sizes = class_means(features, labels)
    squares = [np.einsum("nf,nf->n", rows, rows) for rows in _within(features, labels, means)]
    variances = np.bincount(labels, np.concatenate(squares)) / sizes
    first, second = np.triu_indices(len(means), 1)
    distances = np.sum((means[first] - means[second]) ** 2, axis=1)
    sums = variances[first] + variances[second]
    return float(np.mean(np.where(sums > 0, sums / (2 * np.maximum(distances, _least(sums))), 0.0)))


def _least(sums: Array) -> Array:
    found: Array = np.where(sums > 0, CLOSEST * sums, 1.0)
    return found


@measure(Need.LABELS)
def neural_collapse_nc1(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Neural collapse NC1: variation within classes over that between them.

    Formula: tr(Sigma_W pinv(Sigma_B)) / kappa of the penultimate representation. Range: [0, inf); 0 for full collapse.
    Source: Papyan, Han and Donoho 2020, arXiv 2008.08186.

    All examples of the sample count alike in Sigma_W, all classes in Sigma_B, whose center is the mean of the class
    means. The paper has as many examples of each class. At chance accuracy it says nothing: a network that gives all
    classes the same mean has the best value, 0, too. Classes are those of `cdnv`.
    """
    features, labels = penultimate_by_class(subject, n_samples, seed)
    means, _ = class_means(features, labels)
    # With the centered means as the columns of M, Sigma_B is M M' / kappa, and the trace kappa E |pinv(M) (h - mu)|^2.
    inverse = np.linalg.pinv((means - means.mean(axis=0)).T, rcond=ROUNDING)
    found = [np.sum(product(rows, inverse.T) ** 2, axis=1) for rows in _within(features, labels, means)]
    return float(np.mean(np.concatenate(found)))


def class_means(features: Array, labels: Array) -> tuple[Array, Array]:
    """Means of classes (classes, f), float64, and numbers of examples (classes,)."""
    members = np.eye(labels.max() + 1)[labels]
    sizes = members.sum(axis=0)
    sums = [product(members[some].T, features[some].astype(np.float64)) for some in _slices(features)]
    return np.sum(sums, axis=0) / sizes[:, None], sizes


def _within(features: Array, labels: Array, means: Array) -> Iterator[Array]:
    """Examples less their class' mean (some, f), float64, a few at a time: all of them would be large."""
    for some in _slices(features):
        yield features[some] - means[labels[some]]


def _slices(features: Array) -> list[slice]:
    return [slice(start, start + ROWS) for start in range(0, len(features), ROWS)]
