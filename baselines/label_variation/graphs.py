"""Graphs of nearest neighbours of representations, and the variation tr(Y' L Y) of a signal Y, L the Laplacian."""

import numpy as np

from baselines.core.product import product
from baselines.core.sample import Array

#: Similarities that differ by at most this many float epsilons count as equal, since rounding must not decide.
ROUNDING = 32


def cosines(representations: Array) -> Array:
    """Return cosine similarities (n, n) of representations (n, ...); zero vectors have similarity 0 to all others."""
    found, _ = _products(representations)
    np.fill_diagonal(found, 1)
    return found


def squared_distances(representations: Array) -> Array:
    """Return squared Euclidean distances (n, n), in [0, 4], of representations (n, ...) scaled to length 1."""
    found, lengths = _products(representations)
    np.fill_diagonal(found, lengths)
    found *= -2
    found += lengths + lengths.T
    return np.maximum(found, 0, out=found)


def _products(representations: Array) -> tuple[Array, Array]:
    rows = representations.reshape(len(representations), -1)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(norms > 0, norms, 1)
    return product(rows, rows.T), (norms > 0).astype(rows.dtype)


def neighbours(similarities: Array, k: int) -> Array:
    """Return an adjacency matrix (n, n), bool: row i marks the k examples most similar to example i, including ties."""
    others = similarities.copy()
    np.fill_diagonal(others, -np.inf)
    last = min(k, len(others) - 1)
    threshold = np.partition(others, -last, axis=1)[:, -last] if last > 1 else others.max(axis=1)
    found: Array = others >= threshold[:, None] - ROUNDING * np.finfo(others.dtype).eps
    np.fill_diagonal(found, False)  # not its own neighbour
    return found


def normalized_variation(adjacency: Array, signal: Array) -> float:
    """Return tr(Y' L Y) of a signal Y (n, c), L = I - D^-1/2 A D^-1/2, D the row sums of the adjacency A (n, n)."""
    degrees = adjacency.sum(axis=1, dtype=np.float64)
    scaled = signal / np.sqrt(np.maximum(degrees, 1))[:, None]
    rows, columns = np.divmod(np.flatnonzero(adjacency), len(adjacency))  # faster than in two dimensions
    return float((signal**2).sum() - (scaled[rows] * scaled[columns]).sum())


def variation(weights: Array, signal: Array) -> float:
    """Return tr(Y' L Y) of a signal Y (n, c), with L = D - A, symmetric weights A (n, n), D the row sums of A."""
    weights = weights.astype(np.float64)
    return float(((signal**2).sum(axis=1) * weights.sum(axis=1)).sum() - (signal * product(weights, signal)).sum())
