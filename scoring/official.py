"""The official score: the PGDL competition's score by the formula of its scoring program, not of its paper."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.conditioning import Conditioning, cell_counts, conditioning, is_larger
from scoring.contingency import frequencies, gap_entropy, mutual_information
from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.group_counts import both_smaller_counts, cell_sums, smaller_counts
from scoring.vectors import Vector, as_vectors_of

MINIMUM_HYPERPARAMETERS = 3  #: number of hyperparameters that must vary; with two, a cell has a single pair of models
MAX_CONDITIONS = 20_000_000  #: maximum number of cells of pairs of models; they need about 4 GB of memory
EPSILON = 1e-12
"""Number added inside the entropy's logarithm, as in the scoring program; a perfect measure scores 1.000000000003."""
MOST_MODELS_PAIRWISE = 500  #: up to this number of models, comparing all pairs is faster than sorting


@dataclass(frozen=True)
class OfficialScore:
    """Conditional mutual information of a measure and the gap on one task."""

    score: float  #: minimum of `pairs`, from 0 (no information) to 1 (all models in the order of the gap)
    pairs: dict[tuple[str, str], float]  #: pair of hyperparameters, sorted -> conditional mutual information given both


def official_score(measure: ArrayLike, gap: ArrayLike, grid: Grid) -> OfficialScore:
    """Return the conditional mutual information of the PGDL scoring program (before its factor of 100).

    For every two hyperparameters, all ordered pairs of models, including pairs of a model with itself, are split into
    cells by the values of these two hyperparameters in both models. The sign of the gap of a pair is + if the first
    model has the strictly larger gap, else -; the sign of the measure is defined likewise. The value for two
    hyperparameters is the mutual information of the two signs, averaged over cells, divided by the mean entropy of the
    gap's sign. The score is the minimum of these values.

    Strictly increasing transforms of the measure do not change the score. Negating the measure does, because ties and
    pairs of a model with itself have the sign -. In small cells, chance increases the score.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.

    Raises:
        ScoreUndefined: a cell of the grid is empty, or fewer than three hyperparameters vary (the scoring program then
            returns 0 for every measure).
        ValueError: wrong lengths or numbers that are not finite.

    Source: scoring program of the NeurIPS 2020 competition "Predicting Generalization in Deep Learning".
    """
    measure, gap, cond = official_inputs(measure, gap, grid)
    values = pair_values(measure, gap, cond).tolist()
    return OfficialScore(min(values), dict(zip(cond.sets, values, strict=True)))


def has_official_score(grid: Grid) -> bool:
    """Return whether measures have official scores on a grid.

    Three hyperparameters vary, no cell is empty, and there are at most `MAX_CONDITIONS` cells of pairs of models.
    """
    return len(grid.varying) >= MINIMUM_HYPERPARAMETERS and grid.is_complete and _n_conditions(grid) <= MAX_CONDITIONS


def require_official(grid: Grid) -> None:
    """Raise `ScoreUndefined` for a grid on which no measure has an official score."""
    if has_official_score(grid):
        return
    if len(grid.varying) < MINIMUM_HYPERPARAMETERS:
        found = ", ".join(grid.varying) or "none"
        raise ScoreUndefined(
            f"official score: expected at least {MINIMUM_HYPERPARAMETERS} hyperparameters that vary, found {found}"
        )
    if not grid.is_complete:
        raise ScoreUndefined(f"official score: expected one model in every cell, found {grid.empty_cell()}")
    found = f"{_n_conditions(grid):,}: two hyperparameters have too many values"
    raise ScoreUndefined(f"official score: expected at most {MAX_CONDITIONS:,} cells of pairs of models, found {found}")


def _n_conditions(grid: Grid) -> int:
    return sum((one * other) ** 2 for one, other in combinations(grid.sizes, 2))


def official_inputs(measure: ArrayLike, gap: ArrayLike, grid: Grid) -> tuple[Vector, Vector, Conditioning]:
    """Return measure and gap as floats (n_models,), and the grid's cells; raise errors as `official_score` does."""
    measure, gap = as_vectors_of(len(grid.models), measure, gap)
    require_official(grid)
    return measure, gap, conditioning(grid)


def pair_values(measure: Vector, gap: Vector, cond: Conditioning) -> Vector:
    """Return the conditional mutual information given each pair of hyperparameters, shape (n_pairs,)."""
    return conditional_information(cell_frequencies(measure, gap, cond), cond)


def cell_frequencies(measure: Vector, gap: Vector, cond: Conditioning) -> NDArray[np.float64]:
    """Return the frequencies of the signs in each cell, (n_cells, 2, 2): rows gap + and -, columns measure + and -."""
    both, of_gap, of_measure = _counts(measure, gap, cond)
    return frequencies(both, of_gap, of_measure, cond.n_pairs)


def _counts(measure: Vector, gap: Vector, cond: Conditioning) -> NDArray[np.float64]:
    """Return three counts of pairs per cell, (3, n_cells): with sign + for both, for the gap, and for the measure."""
    if gap.size <= MOST_MODELS_PAIRWISE:
        gap_plus, measure_plus = is_larger(gap), is_larger(measure)
        return cell_counts(np.stack([gap_plus & measure_plus, gap_plus, measure_plus]), cond)
    known = gap.tobytes(), measure.tobytes()
    return np.stack([_both_in_cells(*known, cond), *(_larger_in_cells(values, cond) for values in known)])


@lru_cache(maxsize=64)  # a board needs the counts of each row several times
def _both_in_cells(gap: bytes, measure: bytes, cond: Conditioning) -> Vector:
    vectors = np.frombuffer(gap), np.frombuffer(measure)
    return np.concatenate([cell_sums(both_smaller_counts(*vectors, *own), *own).ravel() for own in cond.groupings])


@lru_cache(maxsize=64)
def _larger_in_cells(values: bytes, cond: Conditioning) -> Vector:
    vector = np.frombuffer(values)
    return np.concatenate([cell_sums(smaller_counts(vector, *own), *own).ravel() for own in cond.groupings])


def conditional_information(p: NDArray[np.float64], cond: Conditioning) -> NDArray[np.float64]:
    """Return the conditional mutual information given each pair of hyperparameters, shape (..., n_pairs).

    `p` holds the frequencies of the signs in each cell, shape (..., n_cells, 2, 2) (`cell_frequencies`).
    """
    information, entropy = mutual_information(p), gap_entropy(p, EPSILON)
    values = np.empty((*p.shape[:-3], len(cond.sets)))
    for sets, cells in cond.of_one_size:
        # Each row is copied and summed by itself: this order of summation gives the published digits.
        means = information.take(cells, axis=-1).mean(axis=-1), entropy.take(cells, axis=-1).mean(axis=-1)
        values[..., sets] = means[0] / means[1]
    return np.maximum(values, 0.0) + 0.0  # only -0.0 and rounding errors are below 0
