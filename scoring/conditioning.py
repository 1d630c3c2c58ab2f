"""Conditioning cells of the official score: ordered pairs of models, split by the values of two hyperparameters."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from scoring.contingency import Signs
from scoring.grid import Grid

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Conditioning:
    """The groups of models, and the cells of pairs of models, for each set of two hyperparameters.

    Models that share the values of both hyperparameters form a group. A cell belongs to an ordered pair of groups (A,
    B); A and B may be the same. It holds all ordered pairs of a model of A and a model of B. Groups and cells are
    numbered consecutively over all sets.
    """

    sets: tuple[tuple[str, str], ...]  #: the pairs of hyperparameters, names in sorted order
    groups: Indices  #: group of each model in each set, shape (n_sets, n_models)
    sizes: Indices  #: number of models in each group, shape (n_groups,)
    first: Indices  #: group A of each cell, shape (n_cells,); the cells of a set are sorted by A, then by B
    second: Indices  #: group B of each cell, shape (n_cells,)
    bounds: Indices  #: the cells of set k are bounds[k] to bounds[k + 1], shape (n_sets + 1,)

    @cached_property
    def members(self) -> NDArray[np.float32]:
        """1 where a model is in a group, else 0, shape (n_models, n_groups)."""
        return members_of(self.groups, self.sizes.size)

    @cached_property
    def n_pairs(self) -> NDArray[np.float64]:
        """Number of ordered pairs of models in each cell, including pairs of a model with itself, shape (n_cells,)."""
        return np.asarray(self.sizes[self.first] * self.sizes[self.second], np.float64)

    @cached_property
    def turned(self) -> Indices:
        """For each cell (A, B), the number of the cell (B, A), shape (n_cells,)."""
        squares = [np.arange(start, stop) for start, stop in pairwise(self.bounds)]
        return np.concatenate([cells.reshape(2 * [isqrt(cells.size)]).T.ravel() for cells in squares])

    @cached_property
    def of_one_size(self) -> list[tuple[Indices, Indices]]:
        """For each n such that k > 0 sets have n cells: the positions (k,) of these sets, and their cells (k, n)."""
        n_cells = np.diff(self.bounds)
        numbers = [np.flatnonzero(n_cells == size) for size in np.unique(n_cells)]
        return [(sets, self.bounds[sets][:, None] + np.arange(n_cells[sets[0]])) for sets in numbers]

    def cells(self, number: int) -> slice:
        """Return the cells that belong to the two hyperparameters `sets[number]`."""
        return slice(int(self.bounds[number]), int(self.bounds[number + 1]))

    @cached_property
    def groupings(self) -> list[tuple[Indices, int]]:
        """For each set of two hyperparameters, the group of each model, from 0, and the number of groups."""
        starts, n_cells = self.first[self.bounds[:-1]], np.diff(self.bounds)
        return [(groups - start, isqrt(size)) for groups, start, size in zip(self.groups, starts, n_cells, strict=True)]


@lru_cache(maxsize=32)  # a board scores many submissions on the same few grids
def conditioning(grid: Grid, names: tuple[str, ...] | None = None) -> Conditioning:
    """Return the groups and cells for every two hyperparameters of a grid, or for every two of `names`."""
    sizes = dict(zip(grid.names, grid.sizes, strict=True))
    codes = dict(zip(grid.names, grid.codes.T, strict=True))
    sets = tuple(combinations(sorted(names) if names else grid.names, 2))
    n_groups = [sizes[a] * sizes[b] for a, b in sets]
    starts = np.cumsum([0, *n_groups])
    groups = np.array([start + codes[a] * sizes[b] + codes[b] for (a, b), start in zip(sets, starts, strict=False)])
    squares = [start + np.indices((n, n)).reshape(2, -1) for n, start in zip(n_groups, starts, strict=False)]
    first, second = np.concatenate(squares, axis=1)
    bounds = np.cumsum([0, *(n * n for n in n_groups)])
    counts = np.bincount(groups.ravel(), minlength=int(starts[-1]))
    return Conditioning(sets, groups, counts, first, second, bounds)


def members_of(groups: Indices, n_groups: int) -> NDArray[np.float32]:
    """Return an array (n_models, n_groups): 1 where a model is in a group, else 0.

    `groups` (..., n_models) has the numbers of the groups of each model.
    """
    members = np.zeros((groups.shape[-1], n_groups), np.float32)
    members[np.arange(len(members)), groups] = 1
    return members


def is_larger(values: NDArray[np.floating] | NDArray[np.integer]) -> Signs:
    """Return whether values[..., i] > values[..., j] for all ordered pairs (i, j), shape (..., n, n)."""
    return values[..., :, None] > values[..., None, :]


def group_counts(pairs: Signs, members: NDArray[np.float32]) -> NDArray[np.float32]:
    """Count for each model i and each group the models j of the group for which pairs[..., i, j] is true.

    `members` is 1 where a model is in a group, else 0, shape (n_models, n_groups). The result has the shape (...,
    n_models, n_groups).
    """
    return pairs.astype(np.float32) @ members


def cell_counts(pairs: Signs, cond: Conditioning) -> NDArray[np.float64]:
    """Count the true entries of `pairs` (..., n_models, n_models) in each cell, shape (..., n_cells)."""
    by_groups = cond.members.T @ group_counts(pairs, cond.members)
    return by_groups[..., cond.first, cond.second].astype(np.float64)
