"""Collapse of the classes in the penultimate representation: variance within classes over variance between classes."""

from collections.abc import Iterator

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.product import product
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.representation.penultimate import penultimate_by_class

#: Lower bound of the squared distance of two class means, divided by the sum of both variances.
CLOSEST = 1e-12

#: Number of examples that are processed at once.
ROWS = 256

#: Singular values of the class means below this fraction of the largest count as zero, because of rounding.
ROUNDING = 1e-6


@measure(Need.LABELS)
def cdnv(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Class-distance normalized variance (CDNV) of the penultimate representation.

    Formula: mean over pairs of classes of (v_c + v_c') / (2 |mu_c - mu_c'|^2), v_c = E |h - mu_c|^2, mu_c the mean over
    class c of representations h. Range: [0, 5e11]; 0 if every class is a single point. Source: Galanti, Gyorgy and
    Hutter 2022, arXiv 2112.15121. Refused: fewer than two classes are left.

    Classes with fewer than two examples in the sample are left out. At chance accuracy the value is meaningless: if all
    representations coincide, it is 0, the best value.
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
    """Neural collapse NC1: variation within classes over variation between classes.

    Formula: tr(Sigma_W pinv(Sigma_B)) / kappa, Sigma_W and Sigma_B covariances of the penultimate representation within
    and between kappa classes. Range: [0, inf); 0 for full collapse. Source: Papyan, Han and Donoho 2020, arXiv
    2008.08186.

    All examples have equal weight in Sigma_W, and all classes in Sigma_B, the covariance of class means. Papyan et al.
    have equally many examples of each class. Classes are chosen as for `cdnv`. At chance accuracy the value is
    meaningless: if all class means coincide, it is 0, the best value.
    """
    features, labels = penultimate_by_class(subject, n_samples, seed)
    means, _ = class_means(features, labels)
    # With centred means as columns of M, Sigma_B is M M' / kappa, and the trace is kappa E |pinv(M) (h - mu)|^2.
    inverse = np.linalg.pinv((means - means.mean(axis=0)).T, rcond=ROUNDING)
    found = [np.sum(product(rows, inverse.T) ** 2, axis=1) for rows in _within(features, labels, means)]
    return float(np.mean(np.concatenate(found)))


def class_means(features: Array, labels: Array) -> tuple[Array, Array]:
    """Return class means (classes, features), float64, and each class's number of examples (classes,)."""
    members = np.eye(labels.max() + 1)[labels]
    sizes = members.sum(axis=0)
    sums = [product(members[some].T, features[some].astype(np.float64)) for some in _slices(features)]
    return np.sum(sums, axis=0) / sizes[:, None], sizes


def _within(features: Array, labels: Array, means: Array) -> Iterator[Array]:
    for some in _slices(features):
        yield features[some] - means[labels[some]]


def _slices(features: Array) -> list[slice]:
    return [slice(start, start + ROWS) for start in range(0, len(features), ROWS)]
