"""The Pareto front of cost and score."""

import math
from collections.abc import Sequence

import numpy as np


def pareto_front(costs: Sequence[float], scores: Sequence[float | None]) -> list[bool]:
    """Return whether each submission is on the Pareto front of cost and score: whether no other submission is better.

    A submission is better if its cost is not higher and its score is not lower, and they are not both equal. A
    submission whose score is None or not finite is never on the front.

    Raises:
        ValueError: different lengths, or a cost that is not finite.
    """
    if len(costs) != len(scores):
        raise ValueError(f"costs and scores: expected the same length, found {len(costs)} and {len(scores)}")
    if not all(map(math.isfinite, costs)):
        raise ValueError("costs: expected finite numbers")
    cost = np.asarray(costs, np.float64)
    known = np.array([value is not None and math.isfinite(value) for value in scores], np.bool_)
    score = np.where(known, np.array(scores, np.float64), -math.inf)
    no_worse = (cost[:, None] <= cost) & (score[:, None] >= score)
    better = (cost[:, None] < cost) | (score[:, None] > score)
    return (known & ~np.any(no_worse & better, axis=0)).tolist()
