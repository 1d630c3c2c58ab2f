"""Statistics of a perturbation response (PR) curve: a network's accuracies at growing magnitudes of a perturbation.

Magnitudes start at 0, or at the lower end of a two-sided range, and are scaled to t in [0, 1]. The cumulative (PCD)
curve C(t) is the integral of the accuracy A from 0 to t; for a network that is always right C(t) = t.

Accuracies are floats, or exact fractions (`accuracies_of`). With fractions, only the final result is rounded, so that
networks with equal statistics tie exactly: the competition's score depends on the last digit.

Source: Schiff et al. 2021, arXiv 2106.04765, section 3.3.
"""

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from baselines.core.sample import Array

#: Maximum denominator of t in curves of fractions.
FINEST = 10**6


def grid(low: float, high: float, number: int, *, endpoint: bool = True) -> Array:
    """Return equidistant magnitudes (number,) from `low` to `high`; the last is `high` only if `endpoint`."""
    if number < 2:
        raise ValueError(f"n_alphas: expected 2 or more, found {number}")
    if low >= high:
        raise ValueError(f"expected magnitudes from low to high, found {low} to {high}")
    return np.linspace(low, high, number, endpoint=endpoint)


def accuracies_of(hits: Array, total: int) -> Array:
    """Return accuracies (k,) as `Fraction`s; `hits` (k,) are numbers of correct predictions among `total`."""
    return np.array([Fraction(int(number), total) for number in hits], dtype=object)


def pcd_curve(magnitudes: Array, accuracies: Array) -> tuple[Array, Array]:
    """Return scaled magnitudes t (n,), and the integral C(t) (n,) of the accuracies by the trapezoidal rule."""
    places = _places(magnitudes, accuracies)
    return places, np.concatenate([accuracies[:1] * 0, np.cumsum(_trapezoids(places, accuracies))])


def gi_score(magnitudes: Array, accuracies: Array, method: str = "trapezoid") -> float:
    """Return the Gi-score 1 - 2 int_0^1 C(t) dt: the area between C(t) and t, divided by the area below t.

    Range: [0, 1]; 1 - c for a constant accuracy c. Early drops of accuracy have the largest weight. `method` "exact"
    interpolates accuracies linearly; "trapezoid" applies the trapezoidal rule to C as well.
    """
    if method not in ("trapezoid", "exact"):
        raise ValueError(f"method: expected trapezoid or exact, found {method}")
    errors = 1 - accuracies
    places, between = pcd_curve(magnitudes, errors)  # linear: the perfect network's curve minus this curve
    area = _sum(_trapezoids(places, between))
    if method == "exact":  # between two points, C is a parabola
        area -= _sum(np.diff(places) ** 2 * np.diff(errors)) / 12
    return float(2 * area)


def pal_score(magnitudes: Array, accuracies: Array) -> float:
    """Return the Pal-score int_0.4^1 C(t) dt / int_0^0.1 C(t) dt; C is the result of `pcd_curve`.

    Range: [0, inf), larger for more robust networks; 84 for a constant accuracy above 0; 0 if the denominator is 0.
    """
    places, cumulative = pcd_curve(magnitudes, accuracies)
    bottom = _area(places, cumulative, Fraction(0), Fraction(1, 10))
    return float(_area(places, cumulative, Fraction(4, 10), Fraction(1)) / bottom) if bottom > 0 else 0.0


def mean_error(accuracies: Array) -> float:
    """Return 1 - mean accuracy over all magnitudes. Range: [0, 1]."""
    return float(_sum(1 - accuracies) / len(accuracies))


def _places(magnitudes: Array, accuracies: Array) -> Array:
    places: Array = (magnitudes - magnitudes[0]) / (magnitudes[-1] - magnitudes[0])
    return _fractions(tuple(places.tolist())) if accuracies.dtype == object else places


@functools.cache
def _fractions(places: tuple[float, ...]) -> Array:
    found = np.array([Fraction(place).limit_denominator(FINEST) for place in places], dtype=object)
    found.flags.writeable = False
    return found


def _sum(values: Array) -> Any:
    return sum(values, Fraction(0)) if values.dtype == object else math.fsum(values)


def _trapezoids(places: Array, values: Array) -> Array:
    areas: Array = np.diff(places) * (values[1:] + values[:-1]) / 2
    return areas


def _area(places: Array, values: Array, low: Fraction, high: Fraction) -> Any:
    ends = np.array([low, high], dtype=places.dtype)
    inside = (places > ends[0]) & (places < ends[1])
    points = np.concatenate([ends[:1], places[inside], ends[1:]])
    heights = np.concatenate([[_between(places, values, ends[0])], values[inside], [_between(places, values, ends[1])]])
    return _sum(_trapezoids(points, heights))


def _between(places: Array, values: Array, place: Any) -> Any:
    left = min(int(np.searchsorted(places, place, side="right")) - 1, len(places) - 2)
    share = (place - places[left]) / (places[left + 1] - places[left])
    return values[left] + share * (values[left + 1] - values[left])
