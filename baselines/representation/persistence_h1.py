"""Persistent homology, in degree 1, of the graph of units whose edges are correlations: loops of units.

`persistence.py` defines points and distances. In the Vietoris-Rips complex of radius r, edges and triangles join two
or three points whose distances are at most r. As r grows, a loop is born with its longest edge, and dies when triangles
fill it. Loops are found by reducing the boundary matrix of the triangles, in the order in which triangles appear.

Source: Ballester et al. 2024, arXiv 2203.12330, in degree 1. Work: 2 forward passes.

n_units: largest number of units, which are outputs of weight layers after their activations. If there are more, units
    are drawn, weighted by the number of examples on which a unit is the most active.
"""

import itertools

import numpy as np

from baselines.core.measure import Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject, shared
from baselines.representation.persistence import unit_distances


def loops(distances: Array) -> Array:
    """Return birth and death (loops, 2) of each loop with death > birth, for points with distances (n, n)."""
    n = len(distances)
    first, second = np.triu_indices(n, 1)
    order = np.argsort(distances[first, second], kind="stable")
    lengths = distances[first, second][order]
    rank = np.zeros((n, n), np.int64)  # rank of each edge
    rank[first[order], second[order]] = np.arange(len(order))
    triangles = np.array(list(itertools.combinations(range(n), 3)), np.int64).reshape(-1, 3)
    edges = np.stack([rank[triangles[:, i], triangles[:, j]] for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    latest = edges.max(axis=1)
    by_time = np.argsort(latest, kind="stable")
    found, columns = [], dict[int, int]()
    for triangle, end in zip(edges[by_time].tolist(), latest[by_time].tolist(), strict=True):
        begin = _reduce(sum(1 << edge for edge in triangle), columns)
        if begin is not None and lengths[begin] < lengths[end]:
            found.append((lengths[begin], lengths[end]))
    return np.array(found, np.float64).reshape(-1, 2)


def _reduce(column: int, columns: dict[int, int]) -> int | None:
    """Reduce the column of a triangle; return the last edge of the loop that the triangle fills, or None.

    A column is a set of edges, as bits. `columns` maps the last edge of each reduced column to the column.
    """
    while column:
        last = column.bit_length() - 1
        if last not in columns:
            columns[last] = column
            return last
        column ^= columns[last]
    return None


@shared
def _loops(subject: Subject, n_samples: int, n_units: int, seed: int) -> Array:
    return loops(unit_distances(subject, n_samples, n_units, seed))


@measure(Need.DATA)
def persistence_life_h1(subject: Subject, *, n_samples: int = 2000, n_units: int = 64, seed: int = 0) -> float:
    """Mean life of loops in the persistent homology of the units' correlations.

    Formula: mean over loops (classes of degree 1) of death - birth, of units at distances 1 - |corr(a_i, a_j)|, a_i the
    activations of unit i over examples. Range: [0, 1]; 0 without loops. Refused: there are fewer than two units, or a
    layer's weights are not understood.

    Ballester et al. give no reason why larger values should go with larger gaps, or with smaller gaps. They take 3,000
    units; here the default is small, since the number of triangles grows with the cube of the number of units.
    """
    found = _loops(subject, n_samples, n_units, seed)
    return float(np.mean(found[:, 1] - found[:, 0])) if len(found) else 0.0


@measure(Need.DATA)
def persistence_midlife_h1(subject: Subject, *, n_samples: int = 2000, n_units: int = 64, seed: int = 0) -> float:
    """Minus the mean midlife of loops in the persistent homology of the units' correlations.

    Formula: -mean over loops (classes of degree 1) of (birth + death) / 2, of units at distances 1 - |corr(a_i, a_j)|,
    a_i the activations of unit i over examples. Range: [-1, 0]; 0 without loops.

    The sign is that of `persistence_mean_h0`.
    """
    found = _loops(subject, n_samples, n_units, seed)
    return -float(np.mean(found)) if len(found) else 0.0
