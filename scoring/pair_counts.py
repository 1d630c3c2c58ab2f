"""Counts of ordered pairs of models in the cells of a conditioning, by comparing all pairs."""

import numpy as np
from numpy.typing import NDArray

from scoring.conditioning import Conditioning
from scoring.contingency import Signs


def is_larger(values: NDArray[np.floating] | NDArray[np.integer]) -> Signs:
    """Whether values[..., i] > values[..., j], for all ordered pairs: shape (..., n, n)."""
    larger: Signs = values[..., :, None] > values[..., None, :]
    return larger


def group_counts(pairs: Signs, members: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of each model's pairs (i, j) that are true, how many have j in each group: (..., n, n) to (..., n, n_groups).

    `members` is 1 where a model is in a group, else 0, shape (n, n_groups).
    """
    counts: NDArray[np.float32] = pairs.astype(np.float32) @ members
    return counts


def block_counts(pairs: Signs, members: NDArray[np.float32]) -> NDArray[np.float32]:
    """How many pairs of every two groups are true: shape (..., n, n) to (..., n_groups, n_groups)."""
    counts: NDArray[np.float32] = members.T @ group_counts(pairs, members)
    return counts


def cell_counts(pairs: Signs, cond: Conditioning) -> NDArray[np.float64]:
    """How many pairs of each cell are true: shape (..., n, n) to (..., n_cells)."""
    return block_counts(pairs, cond.members)[..., cond.first, cond.second].astype(np.float64)
