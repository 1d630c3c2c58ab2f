"""A test by adversarial examples of whether a model has been fitted to its test set.

A generator moves some correctly classified points onto misclassified points of the same label. Each moved point gets
the weight h: the density of the original points divided by the density of the moved points. If model and test set are
independent, the weighted error rate on the moved points and the ordinary error rate are both unbiased estimates of the
model's risk. If they differ by more than chance allows, the model depends on the test set.

Source: Werpachowski, György and Szepesvári, "Detecting overfitting via adversarial examples", NeurIPS 2019, arXiv
1903.02380.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from scoring.vectors import Vector

#: Largest minus smallest possible value of a point's weighted loss minus its ordinary loss. For translations the range
#: is smaller, because a moved point has a weight of at most 1/2.
ANY_GENERATOR, TRANSLATION = 2.0, 1.5

LEVEL = 0.95  #: probability with which an interval contains the mean, if models and test set are independent


@dataclass(frozen=True)
class RiskEstimates:
    """A model's losses on a test set before and after the points are moved; all arrays have the shape (n_points,)."""

    losses: Vector  #: 1 for a misclassified test point, else 0
    moved_losses: Vector  #: 1 for a misclassified moved point, else 0; never below `losses`
    densities: Vector  #: weight h of each moved point, in [0, 1]; ignored where the moved loss is 0

    @classmethod
    def of(cls, losses: ArrayLike, moved_losses: ArrayLike, densities: ArrayLike) -> Self:
        """Check the three arrays, and return estimates from them.

        Raises:
            ValueError: wrong shapes or values, or a misclassified point was moved onto a correctly classified point.
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
        """Share of misclassified test points, in [0, 1]."""
        return float(self.losses.mean())

    @property
    def adversarial_error_rate(self) -> float:
        """Share of misclassified moved points, without weights, in [0, 1]; it does not estimate the risk."""
        return float(self.moved_losses.mean())

    @property
    def adversarial_estimate(self) -> float:
        """Weighted error rate on the moved points, in [0, 1]: an estimate of the risk (eq. 2)."""
        return float(self.weighted_losses.mean())

    @property
    def weighted_losses(self) -> Vector:
        """Loss of each moved point times its weight."""
        return self.moved_losses * self.densities

    @property
    def differences(self) -> Vector:
        """Weighted loss minus ordinary loss of each point (T_i in eq. 5)."""
        return self.weighted_losses - self.losses


@dataclass(frozen=True)
class IndependenceTest:
    """A test of the hypothesis that models and test set are independent."""

    statistic: float  #: weighted minus ordinary error rate; overfitting to the test set makes it positive
    p_value: float  #: upper bound of the probability of so large a |statistic| if models and test set are independent
    n_models: int = 1  #: number of models over which `statistic` was averaged


def pairwise_independence_test(*estimates: RiskEstimates, difference_range: float = ANY_GENERATOR) -> IndependenceTest:
    """Test whether weighted and ordinary error rate, averaged over models, differ by more than chance (N-model test).

    `estimates` holds the losses of each model, on the same test points in the same order. `difference_range` is
    `ANY_GENERATOR` or `TRANSLATION`.

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
    """Return the p-value (eq. 7): the probability of error at which the Bernstein bound equals |statistic|.

    `statistic` is the mean of the points' differences of losses, `variance` their variance (divisor n_points), and
    `difference_range` the largest minus the smallest possible difference (U in the paper).
    """
    difference = abs(statistic)
    slope = math.sqrt(2 * variance / n_points)
    # The root of a quadratic equation for sqrt(log(3 / p-value)), in a form without cancellation.
    root = math.sqrt(slope**2 + 12 * difference_range * difference / n_points)
    logarithm = (2 * difference / (slope + root)) ** 2 if slope + root else 0.0
    return min(1.0, 3 * math.exp(-logarithm))


def bernstein_half_width(n_points: int, variance: float, delta: float, value_range: float) -> float:
    """Return half the width of the interval that contains the expectation with probability 1 - delta (eq. 6).

    `variance` (divisor n_points) is the variance of `n_points` independent values; `value_range` is the largest minus
    the smallest possible value.

    Source: Audibert, Munos and Szepesvári (2009), the empirical Bernstein bound.
    """
    logarithm = math.log(3 / delta)
    return math.sqrt(2 * variance * logarithm / n_points) + 3 * value_range * logarithm / n_points


def bernstein_interval(values: Vector, level: float = LEVEL) -> tuple[float, float]:
    """Return an interval within [0, 1] that contains the expectation of independent values with probability `level`.

    The values are in [0, 1], such as losses, shape (n_points,); `level` is in [0, 1).
    """
    mean = float(values.mean())
    half_width = bernstein_half_width(len(values), float(values.var()), 1 - level, 1.0)
    return max(0.0, mean - half_width), min(1.0, mean + half_width)
