"""Spectrum of the covariance of the penultimate representation: participation ratio and power-law decay."""

import numpy as np

from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.product import product
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.representation.penultimate import penultimate

#: Variances below this fraction of the largest count as zero: float32 representations are rounded.
ROUNDING = 1e-12


@measure(Need.DATA)
def participation_ratio(subject: Subject, *, n_samples: int = 2048, seed: int = 0) -> float:
    """Participation ratio, an effective dimension of the penultimate representation.

    Formula: (sum_k l_k)^2 / sum_k l_k^2, l_k eigenvalues of the covariance of representations. Range: [0, features]; 0
    if all representations are equal. Source: Gao et al. 2017, bioRxiv 214262; Recanatesi et al. 2019, arXiv 1906.00443.
    """
    variances = _variances(subject, n_samples, seed)
    return float(variances.sum() ** 2 / np.sum(variances**2)) if variances.any() else 0.0


@measure(Need.DATA)
def alpha_req(subject: Subject, *, n_samples: int = 2048, first: int = 11, last: int = 100, seed: int = 0) -> float:
    """alpha-ReQ: distance from 1 of the exponent with which the representation's variances decay.

    Formula: |alpha - 1|, ln l_k = c - alpha ln k fitted to the k-th largest variances l_k along principal components, k
    = 11 to 100, with weights 1 / k. Range: [0, inf). Source: Agrawal et al. 2022, arXiv 2202.05808; the fit of Stringer
    et al. 2019. Refused: fewer than two variances are in the range of ranks.

    Networks of Agrawal et al. generalize best with alpha near 1.

    Args:
        first: first rank k of the fit; larger variances do not follow the power law.
        last: last rank k of the fit; earlier if further variances are rounding errors.
    """
    variances = _variances(subject, n_samples, seed)[first - 1 : last]
    ranks = np.arange(first, first + len(variances))
    if len(ranks) < 2:
        raise MeasureUnavailable(f"needs a penultimate representation of {first + 1} dimensions or more")
    slope, _ = np.polyfit(np.log(ranks), np.log(variances), 1, w=ranks**-0.5)  # polyfit squares its weights
    return abs(-float(slope) - 1)


@shared
def _variances(subject: Subject, n_samples: int, seed: int) -> Array:
    features = penultimate(subject, n_samples, seed)[0].astype(np.float64)
    rounding = np.finfo(np.float32).eps ** 2 * np.sum(features**2)
    features -= features.mean(axis=0)
    if features.shape[0] < features.shape[1]:
        features = features.T
    found = np.linalg.eigvalsh(product(features.T, features))[::-1]
    return np.asarray(found[found > max(ROUNDING * found[0], rounding)])
