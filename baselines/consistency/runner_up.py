"""The submission that came second in the competition, as it was handed in."""

import numpy as np

from baselines.consistency.augmentation_robustness import SATURATION, sum_of_penalties
from baselines.core.measure import Need, measure
from baselines.core.streams import stream
from baselines.core.subject import Subject


@measure(Need.CLASSES, Need.QUANTITIES)
def augmentation_robustness_runner_up(
    subject: Subject, *, batch: int = 64, n_batches: int = 201, seed: int = 0
) -> float:
    """Changes of the answers to augmented training images, summed over the dataset's first: runner-up of PGDL.

    Formula: sum over x of sum_t (|max p(x) - max p(t(x))| if argmax p(x) = argmax p(t(x)), else P_t). Range: [0, inf).
    Source: Aithal et al. 2021, arXiv 2101.06459, and their submission, team Always Generalize. Work: 8 F of min(m,
    12,864) examples.

    Sum of the penalties of `augmentation_robustness_penalty`, as finally submitted. That submission is this term alone,
    P = (6, 1, 2, 3, 1, 12, 2), with nothing added. It differs from the mean of `augmentation_robustness_penalty` thus:
    it reads the dataset from its start and does not shuffle it; it stops after the batch of number 200, the 201st; all
    images of a batch get the same factor of saturation, another one for the flipped images; and it sums. It returned
    minus the sum, which is small where the gap should be large: the score of the competition hardly asks for the sign,
    and here it is changed. As there, pixels of any range are taken. At chance accuracy it says nothing: a network that
    gives one answer to all has the best value, 0.

    Args:
        batch: images that share a factor of saturation.
        n_batches: batches from the dataset's start.

    Raises:
        MeasureUnavailable: inputs are not images of 1, 3 or 4 channels, the first three of which are colours.
    """
    inputs = subject.examples.inputs[: batch * n_batches]
    rng = stream("runner-up", seed)
    factors = rng.uniform(*SATURATION, (2, -(-len(inputs) // batch))).astype(np.float32)
    saturations = np.repeat(factors, batch, axis=1)[:, : len(inputs)]
    return sum_of_penalties(subject.network, inputs, saturations, rng)
