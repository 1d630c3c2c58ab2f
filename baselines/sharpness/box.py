"""How large a box around the weights is in which no change costs much training accuracy, as far as attacks find one."""

import functools
import math
from collections.abc import Callable
from typing import Any

from baselines.core.lazy import tf
from baselines.core.subject import Subject, shared
from baselines.network import Network
from baselines.sharpness.scales import LARGEST, RELATIVE_INTERVAL, SMALLEST, weight_space
from baselines.sharpness.weight_space import WeightSpace, gradient, place, repeat, scores

# Sizes of an attack are those of the competition's starting kit.
N_STEPS = 20
N_RESTARTS = 3
BATCH_SIZE = 64
ATTACKED = 640  #: examples
STEP_TO_RADIUS = 2.5 / N_STEPS  #: the steps can cross the whole box, as is usual for this kind of attack

#: The first scale that is tried, and by how much another one may be harmful that is tried next, as a logarithm.
FIRST, FAR = 0.01, 1.0

#: The same where another start of the ascent has found the scale.
CLOSE = 0.01

#: By how much such steps grow.
GROWTH = 4.0


@shared
def box_scale(subject: Subject, accuracy_drop: float, seed: int, *, is_relative: bool, is_folded: bool = True) -> float:
    """Largest alpha at which no change of all weights costs more than `accuracy_drop`, as far as an attack finds one.

    A weight w changes by at most alpha; if relative, by at most alpha |w|. Batch normalization is folded, or stays as
    it is. Ascents go out from several starts. Each has a search of its own, which need not look beyond what others have
    found to be harmful: most end after one ascent. Range: [SMALLEST, LARGEST].
    """
    if is_folded:
        space = weight_space(subject, ATTACKED, seed)
    else:
        space = WeightSpace(subject.network, subject.sample(ATTACKED, seed))
    sizes = tf.abs(space.trained) if is_relative else tf.ones_like(space.trained)
    n = len(space.sample)
    allowed = max(number for number in range(n + 1) if number / n <= accuracy_drop)
    begin, largest, step = FIRST, LARGEST, FAR
    with space.network.restoring():
        for restart in range(N_RESTARTS):
            lost = functools.partial(_lost_after_ascent, space, sizes, [seed, restart])
            begin = largest = largest_harmless_box(lost, allowed, begin, largest, step)
            step = CLOSE
    return largest


def largest_harmless_box(
    lost: Callable[[float], int], allowed: int, begin: float, largest: float, step: float
) -> float:
    """Largest scale, to `RELATIVE_INTERVAL`, below all tried ones at which more than `allowed` answers are lost.

    The logarithm of their number is about a line in that of the scale, with steps, and need not be monotone. From
    `begin` the search goes up or down by growing steps, the first of them given as a logarithm; between the last two it
    is Brent's method, whose points are led by the numbers that it finds. Range: [SMALLEST, largest].
    """
    from scipy.optimize import brentq  # here: listing the measures must not wait for it

    known: dict[float, float] = {}

    def excess(logarithm: float) -> float:
        if logarithm not in known:
            found = max(lost(math.exp(logarithm)), 0) if logarithm > lowest else 0
            known[logarithm] = math.log((found + 0.5) / (allowed + 1))
        return known[logarithm]

    lowest, highest, low = math.log(SMALLEST), math.log(largest), math.log(begin)
    high = low
    while excess(low) > 0:
        high, low, step = low, max(low - step, lowest), GROWTH * step
    while high == low or excess(high) <= 0:
        if high == highest:
            return largest
        low, high, step = high, min(high + step, highest), GROWTH * step
    if high - low > RELATIVE_INTERVAL:
        brentq(excess, low, high, xtol=RELATIVE_INTERVAL)
        high = min(scale for scale, found in known.items() if found > 0)
        low = max(scale for scale, found in known.items() if found <= 0 and scale < high)
    return max(math.exp(low), SMALLEST)


def _lost_after_ascent(space: WeightSpace, sizes: Any, seeds: list[int], alpha: float) -> int:
    """Right answers that an ascent in the box |u_i| <= alpha sizes_i around the trained weights takes away.

    Starts by the same seeds are the same for all boxes, in proportion.
    """
    return space.trained_hits - int(space.run(_hits_after_ascent, space.trained, alpha * sizes, seeds))


def _hits_after_ascent(network: Network, trained: Any, radii: Any, seed: Any, images: Any, labels: Any) -> Any:
    """Number of correct answers after an ascent on the loss, by the gradient's sign, within a box."""

    def ascend(point: Any, slope: Any) -> Any:
        return point + STEP_TO_RADIUS * radii * tf.sign(slope)

    take_steps(ascend, network, trained, radii, seed, images, labels)
    return scores(network, images, labels)[0]


def take_steps(
    step: Callable[[Any, Any], Any], network: Network, trained: Any, radii: Any, seed: Any, images: Any, labels: Any
) -> None:
    """Go from a random point in the inner half of the box by steps of (point, mean gradient), one batch each."""
    n_batches = -(-tf.shape(labels)[0] // BATCH_SIZE)
    start = trained + radii * tf.random.stateless_uniform(trained.shape, seed, -0.5, 0.5)
    place(network, start)

    def move(i: Any, point: Any) -> tuple[Any]:
        first = BATCH_SIZE * (i % n_batches)
        truth = labels[first : first + BATCH_SIZE]
        _, slope = gradient(network, images[first : first + BATCH_SIZE], truth)
        moved = step(point, slope / tf.cast(tf.size(truth), tf.float32))
        point = tf.clip_by_value(moved, trained - radii, trained + radii)
        place(network, point)
        return (point,)

    repeat(N_STEPS, move, start)
