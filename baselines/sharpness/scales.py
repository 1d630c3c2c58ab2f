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
TOLERANCE = 0.01  #: of the drop in accuracy, at which a search is content
NARROW = 1.25  #: ratio of an interval's ends within which the drop may be taken as linear

#: Standard deviation of the noise that weights of zero get where noise is in proportion to weights.
EPSILON = 1e-3

# Sizes of an attack are those of the competition's starting kit.
N_STEPS = 20
N_RESTARTS = 3
BATCH_SIZE = 64
ATTACKED = 640  #: examples
STEP_TO_RADIUS = 2.5 / N_STEPS  #: the steps can cross the whole box, as is usual for this kind of attack


def largest_harmless(drop: Callable[[float], float], allowed: float) -> float:
    """Scale at which the drop in accuracy is `allowed`, by bisection of its logarithm.

    It ends where the drop is within `TOLERANCE` of what is allowed, or the interval is small. Within the last
    interval, whose ends many models share, the drop is taken as linear. Range: [SMALLEST, LARGEST].
    """
    drops = {SMALLEST: 0.0, LARGEST: drop(LARGEST)}
    if drops[LARGEST] <= allowed:
        return LARGEST

    def is_harmful(scale: float) -> bool:
        drops[scale] = drop(scale)
        return drops[scale] > allowed

    def is_enough(low: float, high: float, tried: float) -> bool:
        is_close = high < NARROW * low and abs(drops[tried] - allowed) < TOLERANCE
        return is_close or high < (1 + RELATIVE_INTERVAL) * low

    low, high, _ = bisect(
        is_harmful, SMALLEST, LARGEST, N_HALVINGS, middle=lambda low, high: math.sqrt(low * high), is_enough=is_enough
    )
    return low * math.pow(high / low, (allowed - drops[low]) / (drops[high] - drops[low]))


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
        hits = space.run(_hits_with_noise, space.trained, deviations, n_draws, seed)
        return accuracy - float(hits) / (n_draws * len(space.data[1]))

    with space.network.restoring():
        accuracy = space.trained_accuracy
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
        accuracy = space.trained_accuracy

        def drop(alpha: float) -> float:
            return accuracy - worst_accuracy(space, alpha * sizes, accuracy - accuracy_drop - TOLERANCE, seed)

        return largest_harmless(drop, accuracy_drop)


def hits_after_ascent(network: Network, trained: Any, radii: Any, seed: Any, images: Any, labels: Any) -> Any:
    """Number of correct answers after an ascent on the loss, by the gradient's sign, within a box."""

    def ascend(point: Any, slope: Any) -> Any:
        return point + STEP_TO_RADIUS * radii * tf.sign(slope)

    return hits_after_steps(ascend, network, trained, radii, seed, images, labels)


def hits_after_steps(
    step: Callable[[Any, Any], Any], network: Network, trained: Any, radii: Any, seed: Any, images: Any, labels: Any
) -> Any:
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
    return scores(network, images, labels)[0]


def worst_accuracy(
    space: WeightSpace, radii: Any, enough: float, seed: int, attack: Callable[..., Any] = hits_after_ascent
) -> float:
    """Lowest accuracy that an attack reaches in the box |u_i| <= radii_i around the trained weights.

    Restarts end early once it is below `enough`. Starts are the same for all boxes, in proportion.
    """
    lowest = 1.0
    for restart in range(N_RESTARTS):
        hits = space.run(attack, space.trained, radii, [seed, restart])
        lowest = min(lowest, float(hits) / len(space.data[1]))
        if lowest < enough:
            break
    return lowest
