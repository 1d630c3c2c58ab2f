"""The official score of many measures, or for many gaps, on one grid at once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scoring.conditioning import Conditioning, cell_counts, is_larger
from scoring.contingency import frequencies
from scoring.official import MOST_MODELS_PAIRWISE, conditional_information, pair_values
from scoring.vectors import Vector

CHUNK = 2**19  #: number of pairs of models in memory at once: so many fit into a processor's cache
MOST_RESAMPLED = 300
"""Largest number of models for which all scores of resampled models are computed. On larger tasks, intervals and
p-values come from first-order approximations; pgdl help statistics says how close these are."""
FEWEST = 10  #: number of draws on the largest tasks


def official_scores(measures: NDArray[np.float64], gaps: NDArray[np.float64], cond: Conditioning) -> Vector:
    """Return the official score of each row of measures for the same row of gaps, 0 to 1; a single row is repeated.

    Args:
        measures: values of the measure, shape (n, n_models) or (1, n_models).
        gaps: the gaps, shape (n, n_models) or (1, n_models).
        cond: the cells of a grid that has an official score.

    Returns:
        Shape (n,).
    """
    if gaps.shape[1] > MOST_MODELS_PAIRWISE:
        pairs = zip(*np.broadcast_arrays(measures, gaps), strict=True)
        return np.array([pair_values(measure, gap, cond).min() for measure, gap in pairs])
    n_rows = max(len(measures), len(gaps))
    measure_ranks, gap_ranks = (np.broadcast_to(ranks(rows), (n_rows, rows.shape[1])) for rows in (measures, gaps))
    scores = np.empty(n_rows)
    for rows in chunks(n_rows, gaps.shape[1] ** 2):
        # An input that all rows share is compared and counted once.
        gap_plus = is_larger(gap_ranks[rows] if len(gaps) > 1 else gap_ranks[:1])
        measure_plus = is_larger(measure_ranks[rows] if len(measures) > 1 else measure_ranks[:1])
        both, of_gap, of_measure = (cell_counts(s, cond) for s in (gap_plus & measure_plus, gap_plus, measure_plus))
        p = frequencies(both, of_gap, of_measure, cond.n_pairs)
        scores[rows] = conditional_information(p, cond).min(axis=-1)
    return scores


def crossed_scores(measures: NDArray[np.float64], gaps: NDArray[np.float64], cond: Conditioning) -> NDArray[np.float64]:
    """Return the official score of each measure for each of the gaps, as in `official_scores`.

    Args:
        measures: shape (n_measures, n_models).
        gaps: shape (n_gaps, n_models).
        cond: the cells of a grid that has an official score.

    Returns:
        Shape (n_measures, n_gaps).
    """
    measure_ranks, gap_ranks = ranks(measures), ranks(gaps)
    scores = np.empty((len(measures), len(gaps)))
    for rows in chunks(len(gaps), gaps.shape[1] ** 2):
        gap_plus = is_larger(gap_ranks[rows])
        of_gap = cell_counts(gap_plus, cond)
        for number, one in enumerate(measure_ranks):
            measure_plus = is_larger(one[None])
            p = frequencies(
                cell_counts(gap_plus & measure_plus, cond), of_gap, cell_counts(measure_plus, cond), cond.n_pairs
            )
            scores[number, rows] = conditional_information(p, cond).min(axis=-1)
    return scores


def ranks(values: NDArray[np.float64]) -> NDArray[np.integer]:
    """Return integer ranks of the values along the last axis, equal for equal values. Integers compare quickly."""
    rising = np.sort(values, axis=-1)
    found = [np.searchsorted(*both) for both in zip(rising, values, strict=True)]
    return np.array(found, dtype=np.min_scalar_type(values.shape[-1]))


def chunks(n_rows: int, row_size: int) -> Iterator[slice]:
    """Yield slices of rows that hold about `CHUNK` numbers each, and at least one row."""
    size = max(1, CHUNK // row_size)
    yield from (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def enough_draws(n: int, n_models: int) -> int:
    """Return the number of draws whose mean is as certain as the mean of `n` draws on `MOST_RESAMPLED` models.

    The variance of a score falls with the number of models. The result is at least `FEWEST`, and at most `n`.
    """
    return min(n, max(FEWEST, n * MOST_RESAMPLED // n_models))
