"""Mutual information of two signs, from 2x2 tables of how often they occur together."""

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.bool_]


def frequencies(gap_plus: Signs, measure_plus: Signs, counted: Signs) -> NDArray[np.float64]:
    """Relative frequency of each combination of signs, over the last axis.

    Args:
        gap_plus: shape (..., n_pairs), whether the gap's sign is +.
        measure_plus: the same of the measure.
        counted: broadcastable to that shape, which pairs count.

    Returns:
        Shape (..., 2, 2): rows gap +/-, columns measure +/-. They sum to 1, or to 0 where no pair counts.
    """
    gaps = np.stack([gap_plus & counted, ~gap_plus & counted], axis=-2).astype(np.float64)
    measures = np.stack([measure_plus, ~measure_plus], axis=-1).astype(np.float64)
    counts = gaps @ measures
    p: NDArray[np.float64] = counts / np.maximum(counts.sum(axis=(-2, -1), keepdims=True), 1)
    return p


def mutual_information(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mutual information of rows and columns of the tables `p` (..., 2, 2), in bits (0 to 1)."""
    independent = p.sum(axis=-1, keepdims=True) * p.sum(axis=-2, keepdims=True)
    ratio = np.divide(p, independent, out=np.ones_like(p), where=p > 0)
    bits: NDArray[np.float64] = (p * np.log2(ratio)).sum(axis=(-2, -1))
    return bits


def gap_entropy(p: NDArray[np.float64], epsilon: float = 0.0) -> NDArray[np.float64]:
    """Entropy of the rows of the tables `p` (..., 2, 2), in bits; `epsilon` is added inside the logarithm."""
    p_gap = p.sum(axis=-1)
    logarithm = np.log2(p_gap + epsilon, out=np.zeros_like(p_gap), where=p_gap > 0)
    bits: NDArray[np.float64] = -(p_gap * logarithm).sum(axis=-1)
    return bits
