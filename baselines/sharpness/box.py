"""The largest box around the weights in which attacks find no change that costs too much training accuracy."""

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

# Sizes of an attack are those of the PGDL starting kit.
N_STEPS = 20
N_RESTARTS = 3
BATCH_SIZE = 64
ATTACKED = 640  #: examples
STEP_TO_RADIUS = 2.5 / N_STEPS  #: usual step length: all steps together can cross the whole box

#: First scale of the search.
FIRST = 0.01


@shared
def box_scale(subject: Subject, accuracy_drop: float, seed: int, *, is_relative: bool, is_folded: bool = True) -> float:
    """Largest alpha at which no change of the weights that an attack finds costs more than `accuracy_drop` of accuracy.

    The accuracy is that on training examples. A weight w changes by at most alpha or, if relative, by at most alpha
    |w|. Batch normalization is folded if `is_folded`. The attack ascends the loss from several random starts. The
    search for each start is bounded by the result of the previous start, so that most searches end after a single
    ascent. Range: [SMALLEST, LARGEST].
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
    """Margins (examples,) after an ascent on the loss, by the gradient's sign, in |u_i| <= alpha sizes_i.

    The start scales with alpha for equal seeds.
    """
    radii = alpha * sizes

    def ascend(slope: Array) -> Array:
        return STEP_TO_RADIUS * radii * np.sign(slope)

    return space.margins(walk(space, ascend, space.trained, radii, seeds, _relative_losses))


def _relative_losses(logits: Any, labels: Any) -> Any:
    """Values (n,) whose gradients are those of the cross-entropies in a common unit, so that they do not underflow."""
    slopes, _ = relative_slopes(logits, labels)
    return tf.reduce_sum(logits * tf.stop_gradient(slopes), axis=1)


def walk(
    space: WeightSpace, step: Callable[[Array], Array], middle: Array, radii: Array, seeds: list[int],
    losses: Losses = cross_entropies,
) -> Array:  # fmt: skip
    """Walk within a box from a random point in its inner half, along mean gradients; returns the last point (n,).

    Args:
        space: the weights; each step differentiates the loss of the next batch.
        step: the step (n,) for a mean gradient (n,).
        middle: centre (n,) of the box.
        radii: half sides (n,) of the box.
        seeds: draw the start.
        losses: losses of logits and labels, to be differentiated.
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
