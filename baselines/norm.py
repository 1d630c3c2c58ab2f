"""Norms of the weights."""

from typing import Any

import numpy as np

from baselines.measure import MeasureUnavailable


def distance_from_init(model: Any, _dataset: Any) -> float:
    """Squared Euclidean distance of the weights from their initial values. Range: [0, inf).

    Every array of `get_weights()` counts, biases and the state of batch normalization included, as in the
    starting kit of the competition.

    Raises:
        MeasureUnavailable: the task has no initial weights.
    """
    if getattr(model, "initial_weights", None) is None:
        raise MeasureUnavailable("distance_from_init needs the initial weights, which this model lacks")
    pairs = zip(model.get_weights(), model.initial_weights, strict=True)
    return float(sum(np.sum(np.square(final - initial, dtype=np.float64)) for final, initial in pairs))
