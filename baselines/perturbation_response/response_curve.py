"""Statistics of a perturbation response (PR) curve: a network's accuracies at growing magnitudes of a perturbation.

Magnitudes start where the perturbation does nothing, or at the lower end of a range with two sides. Each
statistic brings them to t in [0, 1] first. The cumulative (PCD) curve is C(t), the integral of the accuracy
A from 0 to t; for a network that is always right C(t) = t.

Source: Schiff et al. 2021, arXiv 2106.04765, section 3.3.
"""

import numpy as np

from baselines.core.sample import Array


def grid(low: float, high: float, number: int, *, endpoint: bool = True) -> Array:
    """Magnitudes (number,) at equal distances, from `low` to `high`, or to just before it.

    Raises:
        ValueError: fewer than two, or an empty range.
    """
    if number < 2:
        raise ValueError(f"n_alphas: expected 2 or more, found {number}")
    if low >= high:
        raise ValueError(f"expected magnitudes from low to high, found {low} to {high}")
    return np.linspace(low, high, number, endpoint=endpoint)


def pcd_curve(magnitudes: Array, accuracies: Array) -> tuple[Array, Array]:
    """Return t (n,) and C(t) (n,) by the trapezoidal rule."""
    places = (magnitudes - magnitudes[0]) / (magnitudes[-1] - magnitudes[0])
    return places, np.append(0.0, np.cumsum(_trapezoids(places, accuracies)))


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
    area = _trapezoids(places, between).sum()
    if method == "exact":  # C is a parabola between two places, its chord too low or too high
        area -= np.sum(np.diff(places) ** 2 * np.diff(errors)) / 12
    return float(2 * area)


def pal_score(magnitudes: Array, accuracies: Array) -> float:
    """Area below the PCD curve over the top 60 % of magnitudes, relative to that over the bottom 10 %.

    Range: [0, inf); larger for a network that is more robust, 84 for any accuracy that does not change. It is
    0 by definition where the bottom area is 0.
    """
    places, cumulative = pcd_curve(magnitudes, accuracies)
    bottom = _area(places, cumulative, 0.0, 0.1)
    return _area(places, cumulative, 0.4, 1.0) / bottom if bottom > 0 else 0.0


def mean_error(accuracies: Array) -> float:
    """1 - mean accuracy over all magnitudes. Range: [0, 1]."""
    return float(1 - np.mean(accuracies))


def _trapezoids(places: Array, values: Array) -> Array:
    """Areas (n - 1,) below the straight lines between values (n,)."""
    areas: Array = np.diff(places) * (values[1:] + values[:-1]) / 2
    return areas


def _area(places: Array, values: Array, low: float, high: float) -> float:
    """Area below the straight lines between values, from `low` to `high`."""
    inside = (places > low) & (places < high)
    points = np.concatenate([[low], places[inside], [high]])
    return float(_trapezoids(points, np.interp(points, places, values)).sum())
