"""Statistics of a perturbation response (PR) curve: a network's accuracies at growing magnitudes of a perturbation.

Magnitudes start where the perturbation does nothing, or at the lower end of a range with two sides. Each
statistic brings them to t in [0, 1] first. The cumulative (PCD) curve is C(t), the integral of the accuracy
A from 0 to t; for a network that is always right C(t) = t.

Accuracies are floats, or fractions (`accuracies_of`). Of fractions a statistic is computed without rounding before the
last step, so that curves whose statistics are equal get equal values: the competition's score reads order out of the
last digit.

Source: Schiff et al. 2021, arXiv 2106.04765, section 3.3.
"""

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from baselines.core.sample import Array

#: Places t of curves of fractions are taken to be fractions, too, with denominators up to this.
FINEST = 10**6


def grid(low: float, high: float, number: int, *, endpoint: bool = True) -> Array:
    """Magnitudes (number,) at equal distances, from `low` to `high`, or to just before it."""
    if number < 2:
        raise ValueError(f"n_alphas: expected 2 or more, found {number}")
    if low >= high:
        raise ValueError(f"expected magnitudes from low to high, found {low} to {high}")
    return np.linspace(low, high, number, endpoint=endpoint)


def accuracies_of(hits: Array, total: int) -> Array:
    """Accuracies (k,) as `Fraction`s from numbers of right answers (k,) among `total`."""
    return np.array([Fraction(int(number), total) for number in hits], dtype=object)


def pcd_curve(magnitudes: Array, accuracies: Array) -> tuple[Array, Array]:
    """Return t (n,) and C(t) (n,) by the trapezoidal rule."""
    places = _places(magnitudes, accuracies)
    return places, np.concatenate([accuracies[:1] * 0, np.cumsum(_trapezoids(places, accuracies))])


def gi_score(magnitudes: Array, accuracies: Array, method: str = "trapezoid") -> float:
    """Area between the PCD curves of a perfect network and this one, relative to that below the former.

    Range: [0, 1]; 0 for A = 1 throughout, 1 - c for A = c; early drops of accuracy weigh most.

    Args:
        magnitudes: (n,), of the perturbation.
        accuracies: (n,).
        method: of the second integration: "trapezoid", or "exact" for the straight lines between accuracies.
    """
    if method not in ("trapezoid", "exact"):
        raise ValueError(f"method: expected trapezoid or exact, found {method}")
    errors = 1 - accuracies
    places, between = pcd_curve(magnitudes, errors)  # linear: the perfect network's curve less this one's
    area = _sum(_trapezoids(places, between))
    if method == "exact":  # C is a parabola between two places, its chord too low or too high
        area -= _sum(np.diff(places) ** 2 * np.diff(errors)) / 12
    return float(2 * area)


def pal_score(magnitudes: Array, accuracies: Array) -> float:
    """Area below the PCD curve over the top 60 % of magnitudes, relative to that over the bottom 10 %.

    Range: [0, inf); larger for a network that is more robust, 84 for any accuracy that does not change. It is
    0 by definition where the bottom area is 0.
    """
    places, cumulative = pcd_curve(magnitudes, accuracies)
    bottom = _area(places, cumulative, Fraction(0), Fraction(1, 10))
    return float(_area(places, cumulative, Fraction(4, 10), Fraction(1)) / bottom) if bottom > 0 else 0.0


def mean_error(accuracies: Array) -> float:
    """1 - mean accuracy over all magnitudes. Range: [0, 1]."""
    return float(_sum(1 - accuracies) / len(accuracies))


def _places(magnitudes: Array, accuracies: Array) -> Array:
    places: Array = (magnitudes - magnitudes[0]) / (magnitudes[-1] - magnitudes[0])
    return _fractions(tuple(places.tolist())) if accuracies.dtype == object else places


@functools.cache
def _fractions(places: tuple[float, ...]) -> Array:
    """Places as fractions; there are few grids, and many curves on each."""
    found = np.array([Fraction(place).limit_denominator(FINEST) for place in places], dtype=object)
    found.flags.writeable = False
    return found


def _sum(values: Array) -> Any:
    """Sum without rounding of fractions, rounded once of floats."""
    return sum(values, Fraction(0)) if values.dtype == object else math.fsum(values)


def _trapezoids(places: Array, values: Array) -> Array:
    """Areas (n - 1,) below the straight lines between values (n,)."""
    areas: Array = np.diff(places) * (values[1:] + values[:-1]) / 2
    return areas


def _area(places: Array, values: Array, low: Fraction, high: Fraction) -> Any:
    """Area below the straight lines between values, from `low` to `high`."""
    ends = np.array([low, high], dtype=places.dtype)
    inside = (places > ends[0]) & (places < ends[1])
    points = np.concatenate([ends[:1], places[inside], ends[1:]])
    heights = np.concatenate([[_between(places, values, ends[0])], values[inside], [_between(places, values, ends[1])]])
    return _sum(_trapezoids(points, heights))


def _between(places: Array, values: Array, place: Any) -> Any:
    """The value at a place on the straight lines between values."""
    left = min(int(np.searchsorted(places, place, side="right")) - 1, len(places) - 2)
    share = (place - places[left]) / (places[left + 1] - places[left])
    return values[left] + share * (values[left + 1] - values[left])
