"""Auto-PGD: ascent along the gradient's sign within a box, whose steps are halved where it stalls.

Croce and Hein 2020, arXiv 2003.01690, algorithm 1.
"""

from collections.abc import Callable
from typing import Any

from baselines.core.lazy import tf
from baselines.sharpness.weight_space import repeat

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
    value: Callable[[Any], tuple[Any, Any]], start: Any, radii: Any, n_steps: Any, looks: Any
) -> tuple[Any, Any]:
    """Climb from `start` (n,) within |u_i| <= radii_i; returns the value there, and the highest one met.

    Args:
        value: of a point, with its gradient (n,); may assign to variables.
        start: the middle of the box.
        radii: (n,); the first steps have twice their length.
        n_steps: calls of `value`, but for the one at the start.
        looks: the `checkpoints`.
    """

    def within(point: Any) -> Any:
        return tf.clip_by_value(point, start - radii, start + radii)

    def step(i: Any, point: Any, before: Any, slope: Any, length: Any, best: Any, best_slope: Any, top: Any,
             count: Any, last: Any, last_top: Any, was_halved: Any) -> tuple[Any, ...]:  # fmt: skip
        ahead = within(point + length * radii * tf.sign(slope))
        share = tf.where(i == 0, 1.0, NEW)
        moved = within(point + share * (ahead - point) + (1 - share) * (point - before))
        found, slope = value(moved)
        is_better = found > top
        best, best_slope = tf.where(is_better, moved, best), tf.where(is_better, slope, best_slope)
        top, count = tf.maximum(top, found), count + tf.cast(is_better, tf.float32)
        is_look = tf.reduce_any(looks == i + 1)
        stalls = count < IMPROVING * tf.cast(i + 1 - last, tf.float32)
        halves = is_look & (stalls | (~was_halved & (top == last_top)))
        return (
            tf.where(halves, best, moved), point, tf.where(halves, best_slope, slope),
            tf.where(halves, length / 2, length), best, best_slope, top, tf.where(is_look, 0.0, count),
            tf.where(is_look, i + 1, last), tf.where(is_look, top, last_top), tf.where(is_look, halves, was_halved),
        )  # fmt: skip

    low, slope = value(start)
    state = (start, start, slope, 2.0, start, slope, low, 0.0, 0, low, False)
    return low, repeat(n_steps, step, *state)[6]
