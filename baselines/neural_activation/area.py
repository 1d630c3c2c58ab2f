"""The area between two curves. A curve is a pair of arrays (n,) of points: coordinates alpha, and values beta."""

import numpy as np

from baselines.core.sample import Array

Curve = tuple[Array, Array]

#: Number of points in a running mean, but at most a quarter of all points.
WINDOW = 25

#: Number of equidistant points at which the curves are compared.
N_PLACES = 100


def area_between(first: Curve, second: Curve, *, parity_polygon: bool = False) -> float:
    """Return the area between two smoothed curves, divided by the area of their bounding box. Range: [0, 1].

    The absolute difference of betas is integrated over the common range of alpha. The area is 1 without a common range,
    and 0 if the box has no area. The area does not depend on scale and offset of alphas and betas, nor on the order of
    points or curves. Gain and Siegelmann 2020, eq. 5, do not specify smoothing and scale.

    If `parity_polygon`, alpha is a function of beta, as in the authors' code. A polygon then leads along one curve and
    back along the other; the result is its area, in which parts on both sides of a crossing cancel.
    """
    curves = smoothed(*first), smoothed(*second)
    alphas, betas = (_in_unit([curve[axis] for curve in curves]) for axis in (0, 1))
    if not np.any(alphas[0]) and not np.any(alphas[1]):  # all alphas are equal
        return 0.0
    one, other = zip(alphas, betas, strict=True)
    return _polygon(one, other) if parity_polygon else _absolute(one, other)


def smoothed(alpha: Array, beta: Array) -> Curve:
    """Average points of equal alpha; then return running means of both coordinates, sorted by alpha."""
    places, member = np.unique(np.asarray(alpha, np.float64), return_inverse=True)
    values = np.bincount(member, beta) / np.bincount(member)
    width = max(min(WINDOW, len(places) // 4), 1)
    return _running_mean(places, width), _running_mean(values, width)


def _running_mean(values: Array, width: int) -> Array:
    means: Array = np.lib.stride_tricks.sliding_window_view(values, width).mean(axis=1)
    return means


def _in_unit(arrays: list[Array]) -> list[Array]:
    low, high = min(map(np.min, arrays)), max(map(np.max, arrays))
    return [(array - low) / (high - low) if high > low else np.zeros_like(array) for array in arrays]


def _absolute(first: Curve, second: Curve) -> float:
    low, high = max(first[0][0], second[0][0]), min(first[0][-1], second[0][-1])
    if low >= high:
        return 1.0
    places = np.linspace(low, high, N_PLACES)
    difference = np.interp(places, *first) - np.interp(places, *second)
    return _absolute_integral(places, difference)


def _absolute_integral(places: Array, values: Array) -> float:
    left, right = values[:-1], values[1:]
    doubled = np.abs(left) + np.abs(right)  # trapezia
    crosses = left * right < 0
    np.divide(left**2 + right**2, doubled, where=crosses, out=doubled)  # pairs of triangles
    return float(np.sum(np.diff(places) * doubled) / 2)


def _polygon(first: Curve, second: Curve) -> float:
    forth, back = _by_value(first), _by_value(second)
    x, y = (np.concatenate([a, b[::-1]]) for a, b in zip(forth, back, strict=True))
    return float(abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2)


def _by_value(curve: Curve) -> Curve:
    order = np.argsort(curve[1], kind="stable")
    alpha, beta = curve[0][order], curve[1][order]
    places = np.linspace(beta[0], beta[-1], N_PLACES)
    return places, np.interp(places, beta, alpha)
