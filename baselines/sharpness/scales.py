"""The largest scale of noise on the weights that costs little training accuracy, for PAC-Bayes measures."""

from collections.abc import Iterator

import numpy as np

from baselines.core import outputs
from baselines.core.lazy import tf
from baselines.core.sample import Array
from baselines.core.streams import stream_seed
from baselines.core.subject import Subject, shared
from baselines.sharpness.search import largest_harmless
from baselines.sharpness.weight_space import WeightSpace

#: Standard deviation of relative noise on weights that are zero.
EPSILON = 1e-3

#: Scale at which the search begins.
FIRST = 0.05


def weight_space(subject: Subject, n_samples: int, seed: int, *, folded: bool = True) -> WeightSpace:
    """Return the `WeightSpace` of the network (`folded` or as trained), with at most `n_samples` training examples."""
    folded = folded and subject.is_changed_by_folding
    return _weight_space(subject, min(n_samples, len(subject.examples)), seed, folded=folded)


@shared
def _weight_space(subject: Subject, n_samples: int, seed: int, *, folded: bool) -> WeightSpace:
    return WeightSpace(subject.seen(folded=folded), subject.sample(n_samples, seed))


@shared
def noise_scale(
    subject: Subject, accuracy_drop: float, n_draws: int, n_samples: int, seed: int, *, is_relative: bool
) -> float:
    """Return the largest sigma at which normal noise on all parameters costs at most `accuracy_drop` of accuracy.

    The accuracy is the mean training accuracy over `n_draws` draws, which are the same for all sigmas. The noise has
    standard deviation sigma; if `is_relative`, its variance on a weight w is sigma^2 w^2 + EPSILON^2. Range: [SMALLEST,
    LARGEST].
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
    """Yield `n_draws` draws of standard normal noise on the n parameters, each (n,)."""
    key = stream_seed("noise on weights", seed)
    for draw in range(n_draws):
        yield tf.random.stateless_normal((len(space),), [key, draw]).numpy()
