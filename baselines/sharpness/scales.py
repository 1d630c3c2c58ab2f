"""How much noise weights bear before the training accuracy drops: the scale that PAC-Bayes measures ask for."""

import math
from collections.abc import Callable
from typing import Any

from baselines.core.bisection import bisect
from baselines.core.lazy import tf
from baselines.core.subject import Subject, shared
from baselines.network import Network
from baselines.sharpness.weight_space import WeightSpace, place, repeat, scores

#: Scales are sought in this interval; the ends are what is returned if all are harmful, or none is.
SMALLEST, LARGEST = 1e-6, 2.0
N_HALVINGS = 25
RELATIVE_INTERVAL = 1e-3  #: of a scale that is found, at most
TOLERANCE = 0.01  #: of the drop in accuracy, at which a search among averages of noise is content
NARROW = 1.25  #: ratio of an interval's ends within which the drop may be taken as linear

#: Standard deviation of the noise that weights of zero get where noise is in proportion to weights.
EPSILON = 1e-3


def largest_harmless(drop: Callable[[float], float], allowed: float) -> float:
    """Largest scale at which the drop in accuracy is not more than `allowed`, by bisection of the scale's logarithm.

    It ends where the drop, an average over noise that hardly jumps, is within `TOLERANCE` of `allowed`, or the interval
    is small; the drop is taken as linear within it. Range: [SMALLEST, LARGEST].
    """
    drops = {SMALLEST: 0.0, LARGEST: drop(LARGEST)}
    if drops[LARGEST] <= allowed:
        return LARGEST

    def is_harmful(scale: float) -> bool:
        drops[scale] = drop(scale)
        return drops[scale] > allowed

    def is_enough(low: float, high: float, tried: float) -> bool:
        is_close = high < NARROW * low and drops[low] < allowed and abs(drops[tried] - allowed) < TOLERANCE
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
        hits = int(space.run(_hits_with_noise, space.trained, deviations, n_draws, seed))
        return (n_draws * space.trained_hits - hits) / (n_draws * len(space.sample))

    with space.network.restoring():
        return largest_harmless(drop, accuracy_drop)


def _hits_with_noise(
    network: Network, trained: Any, deviations: Any, n_draws: Any, seed: Any, images: Any, labels: Any
) -> Any:
    def add(draw: Any, hits: Any) -> tuple[Any]:
        place(network, trained + deviations * tf.random.stateless_normal(trained.shape, [seed, draw]))
        return (hits + scores(network, images, labels)[0],)

    return repeat(n_draws, add, 0.0)[0]
