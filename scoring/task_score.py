"""All scores of one submission on one task."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from scoring.grid import Grid
from scoring.kendall import granulated_kendall, kendall_tau
from scoring.official import official_score
from scoring.printed import printed_score


@dataclass(frozen=True)
class TaskScore:
    """How well a measure predicts the gap on one task; each score is followed by the parts it is made of.

    Attributes:
        n_models: number of models in the task.
        official: conditional mutual information as the competition's program computes it, 0 to 1.
        official_pairs: its value given each pair of hyperparameters; `official` is the minimum.
        printed: conditional mutual information as the competition's paper prints it, 0 to 1.
        printed_subsets: its value given each set of hyperparameters; `printed` is the minimum.
        kendall: Kendall's rank correlation over all models, -1 to 1.
        granulated_kendall: rank correlation when one hyperparameter changes, averaged, -1 to 1.
        granulated_psi: its value for each hyperparameter; `granulated_kendall` is the mean.
    """

    n_models: int
    official: float
    official_pairs: dict[tuple[str, str], float]
    printed: float
    printed_subsets: dict[tuple[str, ...], float]
    kendall: float
    granulated_kendall: float
    granulated_psi: dict[str, float]


def score_task(measure: ArrayLike, gap: ArrayLike, grid: Grid) -> TaskScore:
    """Score a complexity measure on one task.

    Args:
        measure: value of the complexity measure for each model, shape (n_models,), finite.
        gap: train accuracy minus test accuracy of each model, shape (n_models,), finite.
        grid: the task's hyperparameters, models in the same order.

    Raises:
        ScoreUndefined: fewer than three hyperparameters vary.
        ValueError: wrong lengths or numbers that are not finite.
    """
    official = official_score(measure, gap, grid)
    printed = printed_score(measure, gap, grid)
    granulated = granulated_kendall(measure, gap, grid)
    return TaskScore(
        n_models=len(grid.models),
        official=official.score,
        official_pairs=official.pairs,
        printed=printed.score,
        printed_subsets=printed.subsets,
        kendall=kendall_tau(measure, gap),
        granulated_kendall=granulated.score,
        granulated_psi=granulated.psi,
    )
