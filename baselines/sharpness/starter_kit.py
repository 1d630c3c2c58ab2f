"""The sharpness of the PGDL starting kit, corrected or unchanged."""

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

# Constants of the kit's code
LARGEST_RATIO = 2.0
N_HALVINGS = 20
LEARNING_RATE = 1e-3
TOLERANCE = 0.01  #: the search ends at this difference of accuracies
ENOUGH = 0.8  #: no further descent starts once the accuracy is below


@measure(Need.LABELS, Need.GRADIENTS)
def sharpness_starter_kit(
    subject: Subject, *, accuracy_drop: float = 0.1, parity_descent: bool = False, seed: int = 0
) -> float:
    """Minus the relative size of the smallest change of the weights that costs 10 % of training accuracy.

    Formula: -max{a : no change u of the weights w with |u_i| <= a |w_i| costs more than the accuracy drop}. Source:
    PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976), with ascent where its code descends. Range: [-2, -1e-6],
    the bounds of the search. Work: about 200 backward passes over 64 examples and 10 forward passes over 640 examples.
    Weights: as trained. Draws: depend on the order of input dimensions and of examples.

    Projected gradient ascent on the cross-entropy, from three random starts, finds the changes. The kit's code does not
    do what it intends:

    1. It descends on the loss, by plain gradient steps that are too small to change most networks. Here steps ascend
       along the gradient's sign and can cross the box.
    2. It assumes a training accuracy of 1. Here the accuracy is measured.
    3. It ends at the first a whose drop is within 0.01 of the required drop, so that many networks tie. Here the search
       goes on to the a at which the drop is exceeded.
    4. It changes moving averages of batch normalization. Here only trained parameters change; nothing is folded.
    5. It leaves the model changed. Here the model never changes.

    Args:
        accuracy_drop: loss of accuracy that the changes must cause, in (0, 1].
        parity_descent: follow the kit's code in points 1 to 4. The value is minus the kit's value, which is large if
            the gap should be small.
    """
    if parity_descent:
        return -_ratio_of_the_kit(subject, accuracy_drop, seed)
    changes = subject.nodes.is_normalized or subject.is_changed_by_folding  # folding a normalization may be refused
    # If folding changes nothing, `is_folded` shares the search with other measures.
    return -box_scale(subject, accuracy_drop, seed, is_relative=True, is_folded=not changes)


# The kit's code


class _AllWeights(Network):
    """A network whose `variables` are all weights but counters, even moving averages of batch normalization."""

    @property
    def variables(self) -> list[Any]:
        found = [variable for place in range(len(self.nodes)) for variable in self.layer(place).weights]
        found = [v if isinstance(v, tf.Variable) else v.value for v in found]  # Keras 3 wraps them
        return [variable for variable in found if variable.dtype.is_floating]  # `Normalization` counts batches


def _ratio_of_the_kit(subject: Subject, accuracy_drop: float, seed: int) -> float:
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
    """Yield samples from repeated permutations of the examples. A sample serves a descent and the accuracy after it."""
    order, number = np.empty(0, int), N_STEPS * BATCH_SIZE + ATTACKED
    while True:
        while len(order) < number:
            order = np.concatenate([order, rng.permutation(len(examples))])
        yield examples.take(order[:number])
        order = order[number:]


def _margins_after_descent(network: Network, sample: Sample, trained: Array, ratio: float, seeds: list[int]) -> Array:
    first, last = (sample.take(part) for part in np.split(np.arange(len(sample)), [-ATTACKED]))
    space, radii = WeightSpace(network, first), ratio * np.abs(trained)
    point = walk(space, lambda slope: -LEARNING_RATE * slope, trained, radii, seeds)
    return WeightSpace(network, last).margins(point)
