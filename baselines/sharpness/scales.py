"""How far weights can be moved before the training accuracy drops: the scales that sharpness measures ask for."""

import math
from collections.abc import Callable
from typing import Any

from baselines.core.bisection import bisect
from baselines.core.lazy import tf
from baselines.core.subject import Subject, shared
from baselines.network import Network
from baselines.sharpness.weight_space import WeightSpace, gradient, place, repeat, scores

#: Scales are sought in this interval; the ends are what is returned if all are harmful, or none is.
SMALLEST, LARGEST = 1e-6, 2.0
N_HALVINGS = 25
RELATIVE_INTERVAL = 1e-3
TOLERANCE = 0.01  #: of the drop in accuracy, at which a search among averages of noise is content
NARROW = 1.25  #: ratio of an interval's ends within which the drop may be taken as linear

#: Standard deviation of the noise that weights of zero get where noise is in proportion to weights.
EPSILON = 1e-3

# Sizes of an attack are those of the competition's starting kit.
N_STEPS = 20
N_RESTARTS = 3
BATCH_SIZE = 64
ATTACKED = 640  #: examples
STEP_TO_RADIUS = 2.5 / N_STEPS  #: the steps can cross the whole box, as is usual for this kind of attack


def largest_harmless(
    drop: Callable[[float], float], allowed: float, largest: float = LARGEST, *, is_step: bool = False
) -> float:
    """Largest scale at which the drop in accuracy is not more than `allowed`, by bisection of the scale's logarithm.

    It ends where the interval is small. A drop that is an average over noise, and hardly jumps, is within `TOLERANCE`
    of `allowed` soon; then it is taken as linear within the interval. A drop that is a step function (`is_step`) may
    be the same over a wide interval, exactly `allowed` as well, and says nothing about the place before it jumps.
    Range: [SMALLEST, largest].
    """
    drops = {SMALLEST: 0.0, largest: drop(largest)}
    if drops[largest] <= allowed:
        return largest

    def is_harmful(scale: float) -> bool:
        drops[scale] = drop(scale)
        return drops[scale] > allowed

    def is_enough(low: float, high: float, tried: float) -> bool:
        is_close = high < NARROW * low and drops[low] < allowed and abs(drops[tried] - allowed) < TOLERANCE
        return (is_close and not is_step) or high < (1 + RELATIVE_INTERVAL) * low

    low, high, _ = bisect(
        is_harmful, SMALLEST, largest, N_HALVINGS, middle=lambda low, high: math.sqrt(low * high), is_enough=is_enough
    )
    return low if is_step else low * math.pow(high / low, (allowed - drops[low]) / (drops[high] - drops[low]))


def weight_space(subject: Subject, n_samples: int, seed: int) -> WeightSpace:
    """The weights of the network without batch normalization, and training examples."""
    return _weight_space(subject, min(n_samples, len(subject.examples)), seed)


@shared
def _weight_space(subject: Subject, n_samples: int, seed: int) -> WeightSpace:
    return WeightSpace(subject.folded, subject.sample(n_samples, seed))


@shared
def noise_scale(
    subject: Subject, accuracy_drop: float, n_draws: int, n_samples: int, seed: int, *, is_relative: bool
) -> float:
    """Largest sigma at which normal noise on all weights costs at most `accuracy_drop`, on average.

    The noise has standard deviation sigma; if relative, its variance at a weight w is sigma^2 w^2 + EPSILON^2.
    All sigmas see the same draws, so the search has no noise of its own. Range: [SMALLEST, LARGEST].
    """
    space = weight_space(subject, n_samples, seed)
    sizes, floor = (tf.abs(space.trained), EPSILON) if is_relative else (tf.ones_like(space.trained), 0.0)

    def drop(sigma: float) -> float:
        deviations = tf.sqrt(tf.square(sigma * sizes) + floor**2)
        hits = int(space.run(_hits_with_noise, space.trained, deviations, n_draws, seed))
        return (n_draws * space.trained_hits - hits) / (n_draws * len(space.data[1]))

    with space.network.restoring():
        return largest_harmless(drop, accuracy_drop)


def _hits_with_noise(
    network: Network, trained: Any, deviations: Any, n_draws: Any, seed: Any, images: Any, labels: Any
) -> Any:
    def add(draw: Any, hits: Any) -> tuple[Any]:
        place(network, trained + deviations * tf.random.stateless_normal(trained.shape, [seed, draw]))
        return (hits + scores(network, images, labels)[0],)

    return repeat(n_draws, add, 0.0)[0]


@shared
def box_scale(subject: Subject, accuracy_drop: float, seed: int, *, is_relative: bool) -> float:
    """Largest alpha at which no change of all weights costs more than `accuracy_drop`, as far as an attack finds one.

    A weight w changes by at most alpha; if relative, by at most alpha |w|. Range: [SMALLEST, LARGEST].
    """
    space = weight_space(subject, ATTACKED, seed)
    sizes = tf.abs(space.trained) if is_relative else tf.ones_like(space.trained)
    with space.network.restoring():
        return smallest_of_restarts(
            LARGEST,
            lambda restart, largest: largest_harmless(
                lambda alpha: drop_after_ascent(space, alpha * sizes, [seed, restart]), accuracy_drop, largest,
                is_step=True,
            ),
        )  # fmt: skip


def smallest_of_restarts(largest: float, search: Callable[[int, float], float]) -> float:
    """The smallest scale that the ascents from any start find harmless.

    Each start has a search of its own (restart, largest scale), which need not look beyond what others have found to be
    harmful: most end after one ascent.
    """
    for restart in range(N_RESTARTS):
        largest = search(restart, largest)
    return largest


def hits_after_ascent(network: Network, trained: Any, radii: Any, seed: Any, images: Any, labels: Any) -> Any:
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


def drop_after_ascent(space: WeightSpace, radii: Any, seeds: list[int]) -> float:
    """Drop in accuracy that an ascent finds in the box |u_i| <= radii_i around the trained weights.

    Starts by the same seeds are the same for all boxes, in proportion. A drop is one division of numbers of examples,
    so that one of exactly what is allowed is not more than that.
    """
    hits = int(space.run(hits_after_ascent, space.trained, radii, seeds))
    return (space.trained_hits - hits) / len(space.data[1])
