"""Auto-PGD: ascent along the gradient's sign within a box, whose steps are halved where it stalls.

Croce and Hein 2020, arXiv 2003.01690, algorithm 1.
"""

from collections.abc import Callable

import numpy as np

from baselines.core.sample import Array

#: Weight of the new place against momentum, alpha.
NEW = 0.75

#: Share of the steps that must improve the loss, or else the next ones are halved, rho.
IMPROVING = 0.75


def checkpoints(n_steps: int) -> list[int]:
    """Numbers of steps after which the length of a step is looked at: ceil(p_j n_steps), p_j of the paper."""
    percent = [0, 22]
    while percent[-1] < 100:
        percent.append(percent[-1] + max(percent[-1] - percent[-2] - 3, 6))
    return sorted({-(-part * n_steps // 100) for part in percent[1:-1]})


def highest(
    value: Callable[[Array], tuple[float, Array]], start: Array, radii: Array, n_steps: int
) -> tuple[float, float]:
    """Climb from `start` (n,) within |u_i| <= radii_i; returns the value there, and the highest one met.

    Args:
        value: of a point, with its gradient (n,).
        start: the middle of the box.
        radii: (n,); the first steps have twice their length.
        n_steps: calls of `value`, but for the one at the start.
    """

    def within(point: Array) -> Array:
        return np.clip(point, start - radii, start + radii)

    looks = checkpoints(n_steps)
    low, slope = value(start)
    point = before = best = start
    top, best_slope, length = low, slope, 2.0
    n_better, last, last_top, was_halved = 0, 0, low, False
    for i in range(n_steps):
        ahead = within(point + length * radii * np.sign(slope))
        share = NEW if i else 1.0
        before, point = point, within(point + share * (ahead - point) + (1 - share) * (point - before))
        found, slope = value(point)
        if found > top:
            top, best, best_slope, n_better = found, point, slope, n_better + 1
        if i + 1 in looks:
            stalls = n_better < IMPROVING * (i + 1 - last)
            was_halved = stalls or (not was_halved and top == last_top)
            if was_halved:
                point, slope, length = best, best_slope, length / 2
            n_better, last, last_top = 0, i + 1, top
    return low, top
