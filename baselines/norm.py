"""Norms of the weights."""

import numpy as np

from baselines.measure import Need, measure
from baselines.subject import Subject


@measure(
    family="norm",
    meaning="squared Euclidean distance of all weights from their initial values",
    formula="sum over all arrays a of |a - a0|^2",
    source="PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976)",
    cost="none",
    needs={Need.INITIAL_WEIGHTS},
)
def distance_from_init(subject: Subject) -> float:
    """Squared Euclidean distance of the weights from their initial values. Range: [0, inf).

    Every array of `get_weights()` counts, biases and the state of batch normalization included, as in the
    starting kit of the competition.
    """
    pairs = zip(subject.model.get_weights(), subject.initial_weights, strict=True)
    return sum(float(np.sum(np.square(final - initial, dtype=np.float64))) for final, initial in pairs)
