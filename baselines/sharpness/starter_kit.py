"""The sharpness of the competition's starting kit, corrected or as it is."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from baselines.core.bisection import bisect
from baselines.core.lazy import tf
from baselines.core.measure import Need, measure
from baselines.core.sample import Array, Sample
from baselines.core.streams import stream, stream_seed
from baselines.core.subject import Subject
from baselines.network import Network, read_nodes
from baselines.sharpness.box import ATTACKED, BATCH_SIZE, N_RESTARTS, N_STEPS, box_scale, walk
from baselines.sharpness.weight_space import WeightSpace

# Of the kit's own code
LARGEST_RATIO = 2.0
N_HALVINGS = 20
LEARNING_RATE = 1e-3
TOLERANCE = 0.01  #: of the accuracy, at which its search ends
ENOUGH = 0.8  #: accuracy below which it starts no more descents


@measure(Need.LABELS, Need.GRADIENTS)
def sharpness_starter_kit(
    subject: Subject, *, accuracy_drop: float = 0.1, parity_descent: bool = False, seed: int = 0
) -> float:
    """Minus the relative size of the smallest change of the weights that costs 10 % accuracy.

    Formula: -max{a : no |u_i| <= a |w_i| costs more than the accuracy drop}. Source: PGDL starting kit (Jiang et al.
    2020, arXiv 2012.07976), with ascent where its code descends. Work: about 200 B of 64 examples and 10 F of 640
    examples. Weights: as trained. Draws: by input.

    Minus the largest a for which no change of every weight w by at most a |w| costs more than the accuracy drop. Range:
    [-2, -1e-6]; larger means that smaller changes of the weights do harm. -2 is the bound of the search. The changes
    are sought by projected gradient ascent on the cross-entropy, from three random starts.

    The kit means this, but its code does something else: it descends on the loss, by plain gradient steps at a rate
    that hardly moves most networks; it assumes a training accuracy of 1 instead of measuring it; it ends at the first
    ratio whose drop is within 0.01 of the one asked for, so that many networks get one ratio; it changes the moving
    averages of batch normalization, too; and it leaves the model changed. All of this is corrected together: steps
    follow the gradient's sign and can cross the box, the drop is that of the network, the search goes on to the place
    where the drop is exceeded, what training moved is changed. Normalization is not folded.

    Args:
        accuracy_drop: accuracy that the changes have to cost, in (0, 1].
        parity_descent: do as the kit's code does in all of these points but the last. The value is minus its value,
            which is large where the gap should be small.
    """
    if parity_descent:
        return -_ratio_of_the_kit(subject, accuracy_drop, seed)
    is_folded = not subject.nodes.is_normalized  # nothing is, and the search is that of sharpness_mag_flatness
    return -box_scale(subject, accuracy_drop, seed, is_relative=True, is_folded=is_folded)


# The kit's code


class _AllWeights(Network):
    """A network all of whose arrays can be moved, scale, shift and averages of batch normalization among them."""

    @property
    def variables(self) -> list[Any]:
        found = [variable for place in range(len(self.nodes)) for variable in self.layer(place).weights]
        return [v if isinstance(v, tf.Variable) else v.value for v in found]  # Keras 3 wraps them


def _ratio_of_the_kit(subject: Subject, accuracy_drop: float, seed: int) -> float:
    """The last ratio that the kit's search tries."""
    network = _AllWeights(read_nodes(subject.model, subject.weights))
    samples = _samples(subject.examples, stream("samples of the starter kit", seed))
    key, starts = stream_seed("starts of the starter kit", seed), itertools.count()
    trained = WeightSpace(network, subject.examples.take(np.arange(1))).trained
    drops = {}

    def drop(ratio: float) -> float:
        lowest = np.inf
        for _ in range(N_RESTARTS):
            if lowest >= ENOUGH:
                found = _margins_after_descent(network, next(samples), trained, ratio, [key, next(starts)])
                lowest = min(lowest, float(np.mean(found > 0)))
        return 1 - lowest

    def is_harmful(ratio: float) -> bool:
        drops[ratio] = drop(ratio)
        return drops[ratio] > accuracy_drop

    def is_enough(_low: float, _high: float, tried: float) -> bool:
        return abs(drops[tried] - accuracy_drop) < TOLERANCE

    return bisect(is_harmful, 0.0, LARGEST_RATIO, N_HALVINGS, is_enough=is_enough).tried


def _samples(examples: Sample, rng: np.random.Generator) -> Iterator[Sample]:
    """The examples of each descent and of the accuracy behind it: the training set, shuffled anew whenever it ends."""
    order, number = np.empty(0, int), N_STEPS * BATCH_SIZE + ATTACKED
    while True:
        while len(order) < number:
            order = np.concatenate([order, rng.permutation(len(examples))])
        yield examples.take(order[:number])
        order = order[number:]


def _margins_after_descent(network: Network, sample: Sample, trained: Array, ratio: float, seeds: list[int]) -> Array:
    """Descend on the first examples; returns the margins of the last `ATTACKED`."""
    first, last = (sample.take(part) for part in np.split(np.arange(len(sample)), [-ATTACKED]))
    space, radii = WeightSpace(network, first), ratio * np.abs(trained)
    point = walk(space, lambda slope: -LEARNING_RATE * slope, trained, radii, seeds)
    return WeightSpace(network, last).margins(point)
