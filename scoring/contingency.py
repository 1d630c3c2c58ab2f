"""Mutual information of two signs, from 2x2 tables of their joint frequencies."""

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.bool_]
Counts = NDArray[np.float64]


def frequencies(both: Counts, gap_plus: Counts, measure_plus: Counts, total: Counts) -> NDArray[np.float64]:
    """Return 2x2 tables of the relative frequencies of the signs of gap and measure, shape (..., 2, 2).

    Rows are the signs + and - of the gap, columns the signs of the measure. The arguments count pairs of models, shape
    (...): with both signs +, with a gap of sign +, with a measure of sign +, and all pairs. Without pairs, a table is
    0.
    """
    p = np.empty((*np.broadcast_shapes(both.shape, gap_plus.shape, measure_plus.shape, total.shape), 2, 2))
    p[..., 0, 0] = both
    p[..., 0, 1] = gap_plus - both
    p[..., 1, 0] = measure_plus - both
    p[..., 1, 1] = total - gap_plus - measure_plus + both
    p /= np.where(total > 0, total, 1)[..., None, None]
    return p


def mutual_information(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mutual information of rows and columns of frequency tables (..., 2, 2), 0 to 1 bit, shape (...)."""
    (a, b), (c, d) = ([np.ascontiguousarray(p[..., i, j]) for j in (0, 1)] for i in (0, 1))  # faster than axes of 2
    rows, columns = (a + b, c + d), (a + c, b + d)
    bits = _term(a, rows[0], columns[0])
    bits += _term(b, rows[0], columns[1])
    bits += _term(c, rows[1], columns[0])
    bits += _term(d, rows[1], columns[1])
    return bits


def _term(p: Counts, row: Counts, column: Counts) -> Counts:
    is_zero = p <= 0
    expected = row * column
    np.copyto(expected, 1, where=is_zero)
    ratio = p / expected
    np.copyto(ratio, 1, where=is_zero)
    np.log2(ratio, out=ratio)
    ratio *= p
    return ratio


def gap_entropy(p: NDArray[np.float64], epsilon: float = 0.0) -> NDArray[np.float64]:
    """Return the entropy of the rows of frequency tables `p` (..., 2, 2), 0 to 1 bit, shape (...).

    `epsilon` is added to each frequency inside the logarithm, as the competition's scoring program does.
    """
    p_gap = p[..., 0] + p[..., 1]
    terms = p_gap * np.log2(p_gap + epsilon, out=np.zeros_like(p_gap), where=p_gap > 0)
    return -(terms[..., 0] + terms[..., 1])
