"""Explains the scores of a board: chance, the models that decide a score, and time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.board.row import OnTask, Row
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


def find_insights(rows: Sequence[Row], tasks: Sequence[str]) -> list[dict[str, Insight]]:
    """Return, for each row, task -> insight; only of tasks with an official score that are not withheld."""
    found = [{name: _insight(task) for name, task in row.tasks.items() if _is_explicable(task)} for row in rows]
    for name in tasks:
        p_values = {
            str(i): of_row[name].chance.p_value for i, of_row in enumerate(found) if name in of_row and _counts(rows[i])
        }
        for number, rate in false_discovery_rates(p_values).items():
            found[int(number)][name] = replace(found[int(number)][name], rate=rate)
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


def _is_explicable(task: OnTask) -> bool:
    return task.scored is not None and task.official is not None


def _insight(task: OnTask) -> Insight:
    assert task.scored is not None
    assert task.chance is not None
    grid, gaps = task.scored.grid, task.scored.gap
    values = np.array([task.scored.values[model] for model in grid.models], np.float64)  # a scored task has no failure
    gap = [gaps[model] for model in grid.models]
    return Insight(task.chance, explain_score(values, gap, grid, N_PAIRS))
