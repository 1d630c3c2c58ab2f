"""Dimension of the penultimate representation: intrinsic dimension (TwoNN) and effective rank (RankMe)."""

import numpy as np

from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.product import product
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.representation.penultimate import penultimate

#: Is added to each singular value's fraction of their sum, as in the authors' code.
SMALL = 1e-7

#: Number of features that are processed at once.
COLUMNS = 2**13


@measure(Need.DATA)
def intrinsic_dimension(subject: Subject, *, n_samples: int = 2048, fraction: float = 0.9, seed: int = 0) -> float:
    """Intrinsic dimension of the penultimate representation.

    Formula: slope of -ln(1 - F(r)) over ln r (TwoNN); r is the distance to the second-nearest neighbour divided by the
    distance to the nearest, F its distribution function. Range: [0, inf). Source: Ansuini, Laio, Macke and Zoccolan
    2019, arXiv 1905.12784, and their code. Refused: fewer than three usable examples, as in a lattice.

    TwoNN estimate (Facco et al. 2017). Ansuini et al. find lower test errors for lower dimensions. As in their code, F
    at the i-th of n ratios is i / n, and the two largest ratios are always left out. An example is usable if its two
    nearest neighbours have different distances, both above 0. If there are at most two different representations, the
    dimension is 0.
    """
    return dimension(penultimate(subject, n_samples, seed)[0], fraction)


def dimension(points: Array, fraction: float) -> float:
    """Return `two_nn` of points (n, features), or 0 if there are at most two different points."""
    others = points[(points != points[0]).any(axis=1)]
    return two_nn(points, fraction) if (others != others[:1]).any() else 0.0


def two_nn(points: Array, fraction: float) -> float:
    """Return the TwoNN estimate of the dimension of points (n, features), explained at `intrinsic_dimension`."""
    first, second = np.sort(_two_nearest(points), axis=1).T
    counts = (first > 0) & (first < second)
    return slope(second[counts] / first[counts], fraction)


def slope(ratios: Array, fraction: float) -> float:
    """Return an estimate of d from ratios r > 1 (n,), whose distribution function is F(r) = 1 - r^-d."""
    number = len(ratios)
    if number < 3:
        raise MeasureUnavailable(
            "needs three examples whose two nearest neighbours are not equally far, which are lacking"
        )
    kept = np.sort(np.log(ratios))[: min(max(int(fraction * number), 1), number - 2)]
    return float(kept @ -np.log1p(-np.arange(1, len(kept) + 1) / number)) / float(kept @ kept)


def _two_nearest(points: Array) -> Array:
    """Return exact distances (n, 2) of each point from the two neighbours that are nearest by rounded distances."""
    found = np.zeros((len(points), len(points)))
    for start in range(0, points.shape[1], COLUMNS):  # in parts, since all points in float64 would be large
        part = points[:, start : start + COLUMNS].astype(np.float64)
        part -= part.mean(axis=0)
        found += np.einsum("nf,nf->n", part, part) - 2 * product(part, part.T)
    np.fill_diagonal(found, np.inf)
    others = np.argpartition(found, 1, axis=1)[:, :2]
    pairs = zip(points, others, strict=True)
    return np.array([np.linalg.norm(point.astype(np.float64) - points[nearest], axis=1) for point, nearest in pairs])


@measure(Need.DATA)
def rankme(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Minus the effective rank of the penultimate representation: RankMe.

    Formula: -exp(-sum_k p_k ln p_k), p_k = s_k / sum_j s_j + 1e-7, s_k singular values of uncentred representations.
    Range: [-min(examples, features), 0]; 0 for a representation of zeros only. Source: Garrido, Balestriero, Najman and
    LeCun 2023, arXiv 2210.02885.

    Garrido et al. take 25,600 examples. If there are more features than examples, the number of examples bounds the
    rank.
    """
    features = penultimate(subject, n_samples, seed)[0].astype(np.float64)
    if features.shape[0] < features.shape[1]:
        features = features.T
    values = np.sqrt(np.maximum(np.linalg.eigvalsh(product(features.T, features)), 0))
    if not values.any():
        return 0.0
    shares = values / values.sum() + SMALL
    return -float(np.exp(-np.sum(shares * np.log(shares))))
