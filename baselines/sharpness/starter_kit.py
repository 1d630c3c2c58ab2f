"""The sharpness of the competition's starting kit."""

from collections.abc import Callable
from typing import Any

from baselines.core.bisection import bisect
from baselines.core.lazy import tf
from baselines.core.measure import Need, measure
from baselines.core.subject import Subject
from baselines.network import Network
from baselines.sharpness.scales import ATTACKED, TOLERANCE, hits_after_ascent, hits_after_steps, worst_accuracy
from baselines.sharpness.weight_space import WeightSpace

N_HALVINGS = 20
LARGEST_RATIO = 2.0
LEARNING_RATE = 1e-3  #: of the kit's descent


@measure(
    meaning="minus the relative size of the smallest change of the weights that costs 10 % accuracy",
    formula="-max{a : no |u_i| <= a |w_i| costs the accuracy drop}",
    source="PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976), with ascent where its code descends",
    cost="<= 21 x 3 x (20 B of 64 examples + 1 F of 640)",
    needs={Need.DATA, Need.LABELS, Need.GRADIENTS},
)
def sharpness_starter_kit(
    subject: Subject, *, accuracy_drop: float = 0.1, parity_descent: bool = False, seed: int = 0
) -> float:
    """Minus the largest a for which no change of every weight w by at most a |w| costs the accuracy drop.

    Range: [-2, 0]; larger means that smaller changes of the weights do harm. -2 is the bound of the search.
    The changes are sought by projected gradient ascent on the cross-entropy, from three random starts.

    The procedure and its sizes are those of the kit, with four corrections: the kit descends on the loss
    although it looks for a maximum, it assumes a training accuracy of 1 instead of measuring it, it returns
    +a, which is large where the gap should be small, and it leaves the model changed. Steps follow the
    gradient's sign, because a rate that fits one network does not fit the next. Kernels and biases are
    changed; batch normalization is not folded.

    Args:
        subject: the network and its training data.
        accuracy_drop: accuracy that the changes have to cost, in (0, 1].
        parity_descent: search as the kit's code does: descend by plain gradient steps, and assume an accuracy of 1.
        seed: draws the 640 training examples and the random starts.
    """
    space = WeightSpace(subject.network, subject.sample(ATTACKED, seed))
    attack = _hits_after_descent if parity_descent else hits_after_ascent
    sizes = tf.abs(space.trained)
    with space.network.restoring():
        accuracy = 1.0 if parity_descent else space.trained_accuracy
        enough = accuracy - accuracy_drop - TOLERANCE
        return -_largest_harmless(
            lambda ratio: accuracy - worst_accuracy(space, ratio * sizes, enough, seed, attack), accuracy_drop
        )


def _largest_harmless(drop: Callable[[float], float], allowed: float) -> float:
    """Largest ratio in [0, LARGEST_RATIO] whose drop in accuracy is at most `allowed`, by bisection."""
    if drop(LARGEST_RATIO) <= allowed:
        return LARGEST_RATIO
    excesses = {}

    def is_harmful(ratio: float) -> bool:
        excesses[ratio] = drop(ratio) - allowed
        return excesses[ratio] > 0

    def is_enough(_low: float, _high: float, tried: float) -> bool:
        return abs(excesses[tried]) < TOLERANCE

    return bisect(is_harmful, 0.0, LARGEST_RATIO, N_HALVINGS, is_enough=is_enough).tried


def _hits_after_descent(network: Network, *arguments: Any) -> Any:
    return hits_after_steps(lambda point, slope: point - LEARNING_RATE * slope, network, *arguments)
