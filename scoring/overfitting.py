"""A test by adversarial examples of whether a model has been fitted to its test set.

B. Werpachowski, A. György, Cs. Szepesvári (2019), Detecting Overfitting via Adversarial Examples, NeurIPS, arXiv
1903.02380. An adversarial example generator g moves correctly classified points onto misclassified points of the same
label. A second error rate is that on moved points, each weighted by the density h of the data with respect to the moved
data. If model and test set are independent, both this and the ordinary error rate estimate the model's risk without
bias. If the two rates differ by more than chance allows, model and test set are not independent.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from scoring.vectors import Vector

#: Largest minus smallest possible value of a point's weighted minus ordinary loss: for any generator, and for
#: deterministic translations that preserve the density (the weight of a moved point is then at most 1/2).
ANY_GENERATOR, TRANSLATION = 2.0, 1.5

#: Probability with which an interval contains the estimated mean, if models and test set are independent.
LEVEL = 0.95


@dataclass(frozen=True)
class RiskEstimates:
    """Both estimates of a model's risk, point by point; every array has the shape (n_points,)."""

    losses: Vector  #: 0 or 1, on the test points
    moved_losses: Vector  #: 0 or 1, on the moved points; never below `losses`
    densities: Vector  #: h of the moved points, in [0, 1]; ignored where the moved loss is 0

    @classmethod
    def of(cls, losses: ArrayLike, moved_losses: ArrayLike, densities: ArrayLike) -> Self:
        """Check and convert the arrays.

        Raises:
            ValueError: wrong shapes or values, or a misclassified point that was moved onto a correct one.
        """
        arrays = [np.asarray(array, dtype=np.float64) for array in (losses, moved_losses, densities)]
        if len({array.shape for array in arrays}) > 1 or arrays[0].ndim != 1 or not arrays[0].size:
            raise ValueError(f"expected three vectors of one length, found {[array.shape for array in arrays]}")
        for name, array in zip(("losses", "moved_losses"), arrays, strict=False):
            if not np.isin(array, (0.0, 1.0)).all():
                raise ValueError(f"{name}: expected 0 or 1")
        if not ((arrays[2] >= 0) & (arrays[2] <= 1)).all():
            raise ValueError("densities: expected numbers from 0 to 1")
        if (arrays[1] < arrays[0]).any():
            raise ValueError("moved_losses: a generator leaves misclassified points where they are")
        return cls(*arrays)

    @property
    def error_rate(self) -> float:
        """The share of misclassified examples of the unmodified test set, in [0, 1]."""
        return float(self.losses.mean())

    @property
    def adversarial_error_rate(self) -> float:
        """The share of moved points that are misclassified, without weights: no estimate of the risk."""
        return float(self.moved_losses.mean())

    @property
    def adversarial_estimate(self) -> float:
        """The weighted estimate, in [0, 1] (eq. 2)."""
        return float(self.weighted_losses.mean())

    @property
    def weighted_losses(self) -> Vector:
        """Moved losses times densities."""
        return self.moved_losses * self.densities

    @property
    def differences(self) -> Vector:
        """Per point, the weighted loss minus the ordinary loss (T_i, eq. 5)."""
        return self.weighted_losses - self.losses


@dataclass(frozen=True)
class IndependenceTest:
    """A test of the hypothesis that models and test set are independent."""

    statistic: float  #: T, the adversarial minus the ordinary estimate; overfitting makes it positive
    p_value: float  #: upper bound of the probability of so large an absolute `T` if models and test set are independent
    n_models: int = 1  #: the number of models whose differences were averaged


def pairwise_independence_test(*estimates: RiskEstimates, difference_range: float = ANY_GENERATOR) -> IndependenceTest:
    """Test whether both estimates of the risk differ by more than chance; several models are averaged (N-model test).

    Args:
        estimates: estimates of each model with its own generator, on the same points in the same order.
        difference_range: range of a point's difference, `ANY_GENERATOR` or `TRANSLATION`.

    Raises:
        ValueError: no estimates, or different numbers of points.
    """
    if len({len(one.losses) for one in estimates}) != 1:
        raise ValueError("expected estimates of the same points, at least one")
    differences = np.mean([one.differences for one in estimates], axis=0)
    statistic = float(differences.mean())
    p_value = independence_p_value(len(differences), float(differences.var()), statistic, difference_range)
    return IndependenceTest(statistic, p_value, len(estimates))


def independence_p_value(n_points: int, variance: float, statistic: float, difference_range: float) -> float:
    """Return the p-value of the pairwise test (eq. 7): the level at which the Bernstein bound equals |statistic|.

    Args:
        n_points: number of test points.
        variance: variance of the differences, with the divisor n_points.
        statistic: mean of the differences.
        difference_range: range U of a difference.
    """
    difference = abs(statistic)
    slope = math.sqrt(2 * variance / n_points)
    # A quadratic equation for the square root of log(3 / delta), solved without cancellation.
    root = math.sqrt(slope**2 + 12 * difference_range * difference / n_points)
    logarithm = (2 * difference / (slope + root)) ** 2 if slope + root else 0.0
    return min(1.0, 3 * math.exp(-logarithm))


def bernstein_half_width(n_points: int, variance: float, delta: float, value_range: float) -> float:
    """Return half the width of the interval that holds the mean of n_points values with probability 1 - delta (eq. 6).

    The empirical Bernstein bound of Audibert, Munos and Szepesvári (2009).

    Args:
        n_points: number of independent values.
        variance: variance of the values, with the divisor n_points.
        delta: probability with which the bound may fail, in (0, 1].
        value_range: largest minus smallest possible value.
    """
    logarithm = math.log(3 / delta)
    return math.sqrt(2 * variance * logarithm / n_points) + 3 * value_range * logarithm / n_points


def bernstein_interval(values: Vector, level: float = LEVEL) -> tuple[float, float]:
    """Return an interval within [0, 1] that contains the expectation of values with probability `level`.

    Args:
        values: (n_points,), independent and in [0, 1]: losses, weighted losses, or their means over several models.
        level: probability in [0, 1).
    """
    mean = float(values.mean())
    half_width = bernstein_half_width(len(values), float(values.var()), 1 - level, 1.0)
    return max(0.0, mean - half_width), min(1.0, mean + half_width)
