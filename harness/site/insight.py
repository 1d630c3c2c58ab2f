"""Explains the scores of a board: chance, the models that decide a score, and time."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.board.row import OnTask, Row, vectors_of
from scoring import (
    Chance,
    Explanation,
    TimeBudget,
    TimeStep,
    explain_score,
    false_discovery_rates,
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
        rate: the p-value, adjusted for all ranked submissions (false discovery rate); None for other rows.
    """

    chance: Chance
    explanation: Explanation
    rate: float | None = None


def find_insights(
    rows: Sequence[Row], tasks: Sequence[str], wanted: Collection[int] | None = None
) -> dict[int, dict[str, Insight]]:
    """Return position of a row -> task -> insight; only of tasks with an official score that are not withheld.

    Only the rows at the positions `wanted` (default: all) are explained, which takes most of the time; all ranked rows
    count in their adjusted p-values.
    """
    chosen = {number: row.tasks for number, row in enumerate(rows) if wanted is None or number in wanted}
    found = {
        number: {name: _insight(task) for name, task in of_row.items() if task.chance is not None}
        for number, of_row in chosen.items()
    }
    for name in tasks:
        ranked = {str(number): row.tasks[name].p_value for number, row in enumerate(rows) if _counts(row)}
        rates = false_discovery_rates({number: p for number, p in ranked.items() if p is not None})
        for number, of_row in found.items():
            if name in of_row:
                of_row[name] = replace(of_row[name], rate=rates.get(str(number)))
    return found


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


def _counts(row: Row) -> bool:
    """Whether a row is one of the hypotheses among which false discoveries are counted."""
    return row.rank is not None


def _insight(task: OnTask) -> Insight:
    assert task.scored is not None
    assert task.chance is not None
    return Insight(task.chance, explain_score(*vectors_of(task.scored), task.scored.grid, N_PAIRS))
