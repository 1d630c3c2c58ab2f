"""All scores of a complexity measure on a task."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from numpy.typing import ArrayLike

from scoring.errors import ScoreUndefined
from scoring.grid import Grid
from scoring.kendall import granulated_kendall, kendall_tau
from scoring.official import official_score
from scoring.printed import printed_score

T = TypeVar("T")


@dataclass(frozen=True)
class TaskScore:
    """The scores of a measure on a task, each followed by its parts.

    A score is None, and its parts are empty, if it is not defined on the task's grid, or not published for a hidden
    task.
    """

    n_models: int
    undefined: str  #: why no measure has an official score on this task; "" if there is an official score
    official: float | None  #: conditional mutual information as the competition's program computes it, 0 to 1
    official_pairs: dict[tuple[str, str], float]  #: pair of hyperparameters -> value; `official` is the minimum
    printed: float | None  #: conditional mutual information as the competition's paper prints it, 0 to 1
    printed_subsets: dict[tuple[str, ...], float]  #: set of hyperparameters -> value; `printed` is the minimum
    kendall: float | None  #: Kendall's rank correlation over all models, -1 to 1
    granulated_kendall: float | None  #: mean of `granulated_psi`, -1 to 1
    granulated_psi: dict[str, float]  #: hyperparameter -> mean rank correlation of models that differ in it alone


def score_task(measure: ArrayLike, gap: ArrayLike, grid: Grid) -> TaskScore:
    """Score a complexity measure on one task.

    Values of the measure and gaps (train minus test accuracy) are finite, shape (n_models,), in the order of the grid.
    Raise `ValueError` for wrong lengths or numbers that are not finite.
    """
    undefined, official = _unless_undefined(official_score, measure, gap, grid)
    _, printed = _unless_undefined(printed_score, measure, gap, grid)
    _, kendall = _unless_undefined(lambda values, gaps, _: kendall_tau(values, gaps), measure, gap, grid)
    _, granulated = _unless_undefined(granulated_kendall, measure, gap, grid)
    return TaskScore(
        n_models=len(grid.models),
        undefined=undefined,
        official=official.score if official else None,
        official_pairs=official.pairs if official else {},
        printed=printed.score if printed else None,
        printed_subsets=printed.subsets if printed else {},
        kendall=kendall,
        granulated_kendall=granulated.score if granulated else None,
        granulated_psi=granulated.psi if granulated else {},
    )


def _unless_undefined(
    score: Callable[[ArrayLike, ArrayLike, Grid], T], measure: ArrayLike, gap: ArrayLike, grid: Grid
) -> tuple[str, T | None]:
    """Return ("", score); if the score is not defined on the grid, return (reason, None)."""
    try:
        return "", score(measure, gap, grid)
    except ScoreUndefined as error:
        return str(error), None
