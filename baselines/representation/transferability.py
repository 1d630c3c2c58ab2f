"""Transferability scores: how well a linear model on the penultimate representation explains the training labels.

Work: 1 forward pass and SVD.
"""

import math

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.representation.penultimate import penultimate

#: Is added to squared norms in denominators, as in LogME's code, so that the evidence of fitted labels is finite.
SMALL = 1e-5

#: Maximum number of steps of the fixed-point iteration. Two or three are usually enough.
STEPS = 100

#: Variances below this fraction of the largest count as zero, because of rounding.
ROUNDING = 1e-10


@measure(Need.LABELS)
def log_me(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """LogME: minus the log evidence of linear models of the labels on the penultimate representation.

    Formula: -mean over classes c of max over alpha, beta of ln N(1[y = c]; 0, I / beta + F F' / alpha) / n, rows of F
    the representations of n examples, y their classes, alpha and beta the precisions of weights and of labels. Source:
    You, Liu, Wang and Long 2021, arXiv 2102.11005.

    You et al. rank pretrained networks by the evidence: if it is larger, they expect better transfer. If the
    linear models fit the labels exactly, only a small constant of the authors' code keeps the evidence finite.
    """
    features, labels = penultimate(subject, n_samples, seed)
    left, values, _ = np.linalg.svd(features.astype(np.float64), full_matrices=False)
    squares = values[values > math.sqrt(ROUNDING) * values[0]] ** 2
    squares = squares / squares.mean() if len(squares) else squares  # the prior has the scale of representations
    targets = (labels[:, None] == np.unique(labels)).astype(np.float64)
    projected = left[:, : len(squares)].T @ targets
    sums = np.sum(targets**2, axis=0)
    return -float(np.mean([evidence(squares, *one, len(labels)) for one in zip(projected.T, sums, strict=True)]))


def evidence(squares: Array, projected: Array, total: float, number: int) -> float:
    """Return the log evidence per target, maximized over the precisions of the weights and of the `number` targets.

    `squares` (r,) are the nonzero squared singular values of the features, `projected` (r,) the projections of the
    targets onto the left singular vectors; `total` is the sum of the squared targets.
    """
    outside = max(total - float(projected @ projected), 0.0)
    prior, noise = 1.0, 1.0  # precisions of weights and of labels
    for _ in range(STEPS):
        ratio = prior / noise
        left = number - len(squares) + float(np.sum(ratio / (squares + ratio)))
        weights = float(np.sum(squares * (projected / (squares + ratio)) ** 2))
        residual = float(np.sum((projected * ratio / (squares + ratio)) ** 2)) + outside
        prior, noise = (number - left) / (weights + SMALL), left / (residual + SMALL)
        if not 0 < prior / noise < math.inf or math.isclose(prior / noise, ratio, rel_tol=1e-6):
            break
    determinant = float(np.sum(np.log1p(noise / prior * squares))) if prior else 0.0
    return (number * math.log(noise / (2 * math.pi)) - determinant - noise * residual - prior * weights) / (2 * number)


@measure(Need.LABELS)
def h_score(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Minus the H-score: variance between classes relative to total variance of the penultimate representation.

    Formula: -tr(pinv(cov(h)) cov(E[h | y])), h representations, y their classes. Range: [1 - kappa, 0], kappa classes;
    1 - kappa if each class is a single point, and these points are in general position. Source: Bao et al. 2019, An
    information-theoretic approach to transferability in task transfer learning.

    Args:
        n_samples: training examples; with fewer examples than features the value is always 1 - kappa.
    """
    features, labels = penultimate(subject, n_samples, seed)
    points = features.astype(np.float64) - features.mean(axis=0, dtype=np.float64)
    left, values, _ = np.linalg.svd(points, full_matrices=False)
    left = left[:, values > math.sqrt(ROUNDING) * values[0]]
    members = (labels[:, None] == np.unique(labels)).astype(np.float64)
    # The trace is the sum of squared norms of the whitened class means, weighted by class sizes.
    return -float(np.sum((left.T @ members) ** 2 / members.sum(axis=0)))
