"""The largest box around the weights in which attacks lower the training accuracy by at most a chosen amount."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.core import outputs
from baselines.core.lazy import tf
from baselines.core.sample import Array
from baselines.core.streams import stream_seed
from baselines.core.subject import Subject, shared
from baselines.network.losses import cross_entropies, relative_slopes
from baselines.sharpness.scales import weight_space
from baselines.sharpness.search import LARGEST, largest_harmless
from baselines.sharpness.weight_space import Losses, WeightSpace

# Sizes of an attack, as in the PGDL starting kit
N_STEPS = 20
N_RESTARTS = 3
BATCH_SIZE = 64
ATTACKED = 640  #: number of examples
STEP_TO_RADIUS = 2.5 / N_STEPS  #: ratio of step length to radius: all steps together can cross the whole box

#: Scale at which the search begins.
FIRST = 0.01


@shared
def box_scale(subject: Subject, accuracy_drop: float, seed: int, *, is_relative: bool, is_folded: bool = True) -> float:
    """Return the largest alpha at which attacks on the weights cost at most `accuracy_drop` of training accuracy.

    An attack changes a weight w by at most alpha, or by alpha |w| if `is_relative`. It ascends the loss from several
    random starts. If `is_folded`, normalization is folded into the weights. Range: [SMALLEST, LARGEST].
    """
    network = subject.folded if is_folded else subject.network
    network.require_room(min(BATCH_SIZE, len(subject.examples)), "give calls more memory (--memory)")
    if is_folded:
        space, answers = weight_space(subject, ATTACKED, seed), outputs.folded_logits(subject, ATTACKED, seed)
    else:
        sample, answers = outputs.logits(subject, ATTACKED, seed)
        space = WeightSpace(subject.network, sample)
    still = outputs.margins(answers, space.sample.labels)
    sizes = np.abs(space.trained) if is_relative else np.ones_like(space.trained)
    begin, largest = FIRST, LARGEST
    key = stream_seed("starts in a box", seed)
    with space.network.restoring():
        for restart in range(N_RESTARTS):
            attacked = functools.partial(_margins_after_ascent, space, sizes, [key, restart])
            begin = largest = largest_harmless(attacked, still, accuracy_drop, begin, largest)
    return largest


def _margins_after_ascent(space: WeightSpace, sizes: Array, seeds: list[int], alpha: float) -> Array:
    radii = alpha * sizes

    def ascend(slope: Array) -> Array:
        return STEP_TO_RADIUS * radii * np.sign(slope)

    return space.margins(walk(space, ascend, space.trained, radii, seeds, _relative_losses))


def _relative_losses(logits: Any, labels: Any) -> Any:
    """Return numbers (n,) whose gradients are those of cross-entropies, times a factor against underflow."""
    slopes, _ = relative_slopes(logits, labels)
    return tf.reduce_sum(logits * tf.stop_gradient(slopes), axis=1)


def walk(
    space: WeightSpace, step: Callable[[Array], Array], middle: Array, radii: Array, seeds: list[int],
    losses: Losses = cross_entropies,
) -> Array:  # fmt: skip
    """Make `N_STEPS` steps in a box, from a random point of the box of half the size. Return the last point (n,).

    The box has the centre `middle` (n,) and half sides `radii` (n,). Each step differentiates `losses(logits, labels)`
    on the next batch; `step` turns the mean gradient (n,) into a change (n,) of the point.
    """
    n_batches = -(-len(space.sample) // BATCH_SIZE)
    point: Array = middle + radii * tf.random.stateless_uniform(middle.shape, seeds, -0.5, 0.5).numpy()
    for i in range(N_STEPS):
        first = BATCH_SIZE * (i % n_batches)
        some = slice(first, first + BATCH_SIZE)
        _, slope = space.batch_gradient(point, some, losses)
        mean = slope / len(space.sample.labels[some])
        point = np.clip(point + step(mean), middle - radii, middle + radii)
    return point
