"""How much noise weights bear before the training accuracy drops: the scale of PAC-Bayes measures."""

from collections.abc import Iterator

import numpy as np

from baselines.core import outputs
from baselines.core.lazy import tf
from baselines.core.sample import Array
from baselines.core.streams import stream_seed
from baselines.core.subject import Subject, shared
from baselines.sharpness.search import largest_harmless
from baselines.sharpness.weight_space import WeightSpace

#: Standard deviation of the noise that weights of zero get where noise is in proportion to weights.
EPSILON = 1e-3

#: The first scale that is tried.
FIRST = 0.05


def weight_space(subject: Subject, n_samples: int, seed: int, *, folded: bool = True) -> WeightSpace:
    """The parameters of the network with its normalization folded, or as it was trained, and training examples."""
    folded = folded and subject.is_changed_by_folding
    return _weight_space(subject, min(n_samples, len(subject.examples)), seed, folded=folded)


@shared
def _weight_space(subject: Subject, n_samples: int, seed: int, *, folded: bool) -> WeightSpace:
    return WeightSpace(subject.seen(folded=folded), subject.sample(n_samples, seed))


@shared
def noise_scale(
    subject: Subject, accuracy_drop: float, n_draws: int, n_samples: int, seed: int, *, is_relative: bool
) -> float:
    """Largest sigma at which normal noise on all weights costs at most `accuracy_drop`, on average.

    The noise has standard deviation sigma; if relative, its variance at a weight w is sigma^2 w^2 + EPSILON^2.
    All sigmas see the same draws, so the search has no noise of its own. Range: [SMALLEST, LARGEST].
    """
    space = weight_space(subject, n_samples, seed)
    still = outputs.margins(outputs.folded_logits(subject, n_samples, seed), space.sample.labels)
    sizes, floor = (np.abs(space.trained), EPSILON) if is_relative else (np.ones_like(space.trained), 0.0)

    def margins(sigma: float) -> Array:
        deviations = np.sqrt(np.square(sigma * sizes) + floor**2)
        found = [space.margins(space.trained + deviations * noise) for noise in draws(space, n_draws, seed)]
        return np.concatenate(found)

    with space.network.restoring():
        return largest_harmless(margins, np.tile(still, n_draws), accuracy_drop, FIRST)


def draws(space: WeightSpace, n_draws: int, seed: int) -> Iterator[Array]:
    """Standard normal noise (n,), `n_draws` times, one at a time."""
    key = stream_seed("noise on weights", seed)
    for draw in range(n_draws):
        yield tf.random.stateless_normal((len(space),), [key, draw]).numpy()
