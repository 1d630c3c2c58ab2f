"""Explanations of scores for the authors of submissions: decisive models, missed hyperparameters, and time."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from harness.board.on_task import OnTask, Vector, vectors_of
from harness.board.row import Row
from scoring import Explanation, explain_score, pareto_front

N_PAIRS = 8  #: number of wrongly ordered pairs of models in an explanation

#: A measure misses a hyperparameter that explains at least the first share of the variance of the gaps, if the
#: measure's Kendall's tau among models that differ only in this hyperparameter is below the second number.
NOTICEABLE, FOLLOWED = 0.1, 1 / 3


@dataclass(frozen=True)
class Missed:
    """A hyperparameter that affects the gap, while the measure's values do not follow this effect."""

    name: str
    share: float  #: share of the variance of the gaps that the hyperparameter alone explains, 0 to 1
    tau: float  #: mean Kendall's tau of measure and gap among models that differ only in the hyperparameter, -1 to 1


@dataclass(frozen=True)
class Insight:
    """The explanation of a row's score on one task."""

    explanation: Explanation
    missed: Sequence[Missed]  #: hyperparameters whose effect the measure misses, largest effect first


def find_insights(rows: Sequence[Row], wanted: Collection[int] | None = None) -> dict[int, dict[str, Insight]]:
    """Return explanations of the official scores on public tasks: position of a row -> task -> explanation.

    `wanted` holds the positions of the rows to explain; None means all rows.
    """
    return {
        number: {name: _insight(task) for name, task in row.tasks.items() if task.chance is not None}
        for number, row in enumerate(rows)
        if wanted is None or number in wanted
    }


def is_on_front(rows: Sequence[Row]) -> list[bool]:
    """Return whether each row is on the Pareto front of score and time of the complete ranked rows.

    All other rows, and rows without times, are not on the front.
    """
    compared = [row.rank is not None and row.complete and row.seconds_per_model is not None for row in rows]
    scores = [row.score if is_compared else None for row, is_compared in zip(rows, compared, strict=True)]
    return pareto_front([row.seconds_per_model or 0.0 for row in rows], scores)


def _insight(task: OnTask) -> Insight:
    assert task.scored is not None
    values, gaps = vectors_of(task.scored)
    return Insight(explain_score(values, gaps, task.scored.grid, N_PAIRS), _missed(task, gaps))


def _missed(task: OnTask, gaps: Vector) -> list[Missed]:
    """Return the hyperparameters that affect the gap, but whose tau is below `FOLLOWED`, largest effect first.

    If the measure decreases as the gap grows, -tau is compared with `FOLLOWED` in place of tau.
    """
    assert task.score is not None
    assert task.scored is not None
    grid, variance = task.scored.grid, gaps.var()
    sign = -1 if (task.kendall or 0) < 0 else 1
    found = []
    for name, tau in task.score.granulated_psi.items():
        codes = grid.codes[:, grid.names.index(name)]
        means = np.bincount(codes, gaps) / np.maximum(np.bincount(codes), 1)
        share = float(means[codes].var() / variance) if variance > 0 else 0.0
        if share >= NOTICEABLE and sign * tau < FOLLOWED:
            found.append(Missed(name, share, tau))
    return sorted(found, key=lambda one: -one.share)
