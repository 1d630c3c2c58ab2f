"""Auto-PGD (Croce and Hein 2020, arXiv 2003.01690, algorithm 1): ascent along the gradient's sign within a box."""

from collections.abc import Callable

import numpy as np

from baselines.core.sample import Array

#: Function of points (rows, n) that returns its values (rows,) and gradients (rows, n).
Value = Callable[[Array], tuple[Array, Array]]

#: Weight alpha of the gradient step. The momentum, which repeats the last move, has weight 1 - alpha.
NEW = 0.75

#: If fewer than this fraction rho of the steps since the last checkpoint increased the value, the step is halved.
IMPROVING = 0.75


def checkpoints(n_steps: int) -> list[int]:
    """Return the numbers of the steps after which the step length can be halved, ascending (w_j in the paper)."""
    percent = [0, 22]
    while percent[-1] < 100:
        percent.append(percent[-1] + max(percent[-1] - percent[-2] - 3, 6))
    return sorted({-(-part * n_steps // 100) for part in percent[1:-1]})


def highest(value: Value, start: Array, at_start: tuple[Array, Array], radii: Array, n_steps: int) -> Array:
    """Maximize a function of each row within the row's box by `n_steps` steps; return the largest values found (rows,).

    Args:
        value: points (rows, n) -> values (rows,) and gradients (rows, n); called once for each step.
        start: centres (rows, n) of the boxes, where the ascent starts.
        at_start: values and gradients at `start`.
        radii: half sides of the boxes, (rows, n) or (rows, 1); the first steps are twice as long as these.
    """

    def within(points: Array) -> Array:
        found: Array = np.clip(points, start - radii, start + radii)
        return found

    top, slope = at_start
    point, before, present = start, start, top  # `present` is the value at `point`
    best, best_slope, length = start.copy(), slope.copy(), np.full((len(start), 1), 2, start.dtype)
    n_better, last, last_top = np.zeros(len(start), int), 0, top
    was_halved, looks = np.zeros(len(start), bool), checkpoints(n_steps)
    for i in range(n_steps):
        ahead = within(point + length * radii * np.sign(slope))
        share = NEW if i else 1.0
        before, point = point, within(point + share * (ahead - point) + (1 - share) * (point - before))
        found, slope = value(point)
        n_better, present = n_better + (found > present), found
        better = found > top
        top = np.where(better, found, top)
        best[better], best_slope[better] = point[better], slope[better]
        if i + 1 in looks:
            stalls = n_better < IMPROVING * (i + 1 - last)
            was_halved = stalls | (~was_halved & (top == last_top))
            halved = was_halved[:, None]
            point, slope = np.where(halved, best, point), np.where(halved, best_slope, slope)
            present = np.where(was_halved, top, present)
            length = np.where(halved, length / 2, length)
            n_better, last, last_top = np.zeros_like(n_better), i + 1, top
    return top
