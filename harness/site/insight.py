"""Explains the scores of a board: chance, the models that decide a score, and time."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from harness.board.row import OnTask, Row, vectors_of
from scoring import (
    Chance,
    Explanation,
    TimeBudget,
    TimeStep,
    explain_score,
    pareto_front,
    scores_by_limit,
)

#: Costly pairs of models to show.
N_PAIRS = 8


@dataclass(frozen=True)
class Insight:
    """A row on one task.

    Attributes:
        chance: the score beside chance.
        explanation: the models that decide the score.
    """

    chance: Chance
    explanation: Explanation


def find_insights(rows: Sequence[Row], wanted: Collection[int] | None = None) -> dict[int, dict[str, Insight]]:
    """Return position of a row -> task -> insight; only of tasks with an official score that are not withheld.

    Only the rows at the positions `wanted` (default: all) are explained.
    """
    return {
        number: {name: _insight(task) for name, task in row.tasks.items() if task.chance is not None}
        for number, row in enumerate(rows)
        if wanted is None or number in wanted
    }


def time_steps(row: Row) -> list[TimeStep]:
    """Return the row's score under every shorter time limit; empty without calls, or if a task is withheld."""
    scored = {name: task.scored for name, task in row.tasks.items() if task.scored is not None}
    if len(scored) < len(row.tasks) or row.configuration is None:
        return []
    seconds = {
        name: {model: call.call_wall_s for model, call in task.calls.items()} for name, task in row.tasks.items()
    }
    budget: TimeBudget = "average" if row.configuration.time_budget == "average" else "each"
    return scores_by_limit(scored, seconds, budget)


def is_on_front(rows: Sequence[Row]) -> list[bool]:
    """Whether no other row is as fast and as good, and better in one of the two; for rows with times."""
    timed = [row for row in rows if row.seconds_per_model is not None]
    front = pareto_front([row.seconds_per_model or 0.0 for row in timed], [row.score for row in timed])
    on_front: Mapping[int, bool] = {id(row): on for row, on in zip(timed, front, strict=True)}
    return [on_front.get(id(row), False) for row in rows]


def _insight(task: OnTask) -> Insight:
    assert task.scored is not None
    assert task.chance is not None
    return Insight(task.chance, explain_score(*vectors_of(task.scored), task.scored.grid, N_PAIRS))
