"""Batches of official scores: many complexity measures, or many vectors of gaps, on the same grid."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scoring.conditioning import Conditioning, cell_counts, is_larger
from scoring.contingency import frequencies
from scoring.official import MOST_MODELS_PAIRWISE, conditional_information, pair_values
from scoring.vectors import Vector

CHUNK = 2**19  #: number of pairs of models in memory at once, chosen to fit into a processor's cache
MOST_RESAMPLED = 300
"""Largest number of models of a task for intervals and p-values by resampling. For larger tasks they are approximated
to first order."""
FEWEST = 10  #: smallest number of random draws


def official_scores(measures: NDArray[np.float64], gaps: NDArray[np.float64], cond: Conditioning) -> Vector:
    """Return the official score of row i of `measures` for the gaps in row i of `gaps`, 0 to 1, shape (n,).

    Both arrays have the shape (n, n_models), or (1, n_models) for a single row that is used n times. `cond` holds the
    conditioning cells of a grid that has an official score.
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
    """Return the official score of every row of `measures` for the gaps in every row of `gaps`, (n_measures, n_gaps).

    `measures` has the shape (n_measures, n_models), `gaps` (n_gaps, n_models). See `official_scores` for `cond`.
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
    """Return the rank of each value within its row, from 0; equal values share the smallest of their ranks."""
    rising = np.sort(values, axis=-1)
    found = [np.searchsorted(*both) for both in zip(rising, values, strict=True)]
    return np.array(found, dtype=np.min_scalar_type(values.shape[-1]))


def chunks(n_rows: int, row_size: int) -> Iterator[slice]:
    """Yield slices that cover `n_rows` rows in turn; each has about `CHUNK` numbers, but at least one row."""
    size = max(1, CHUNK // row_size)
    yield from (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def enough_draws(n: int, n_models: int) -> int:
    """Return the number of random draws for a task, at most `n`: fewer for more models, but at least `FEWEST`."""
    return min(n, max(FEWEST, n * MOST_RESAMPLED // n_models))
