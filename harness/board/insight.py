"""Explanations of scores for the authors of submissions: decisive models, missed hyperparameters, time, and hints."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.board.on_task import SIGNIFICANT, OnTask, Vector, vectors_of
from harness.board.row import Row
from harness.text import p_value_equation
from scoring import Explanation, TimeBudget, TimeStep, explain_score, pareto_front, scores_by_limit

N_PAIRS = 8  #: number of wrongly ordered pairs of models in an explanation
TIED_SHARE = 0.1  #: a hint names tied values if more than this share of the models has them

#: A hint names the measure's own random draws if their standard error exceeds this share of the score's standard error.
NOISY_SHARE = 0.5

#: A measure misses a hyperparameter if it explains at least the first share of the variance of the gaps, and the
#: measure's Kendall's tau among models that differ only in this hyperparameter is below the second number.
NOTICEABLE, FOLLOWED = 0.1, 1 / 3


@dataclass(frozen=True)
class Missed:
    """A hyperparameter that affects the gap, although the measure's values do not follow its effect."""

    name: str
    share: float  #: share of the variance of the gaps that the hyperparameter alone explains, 0 to 1
    tau: float  #: mean Kendall's tau of measure and gap among models that differ only in the hyperparameter, -1 to 1


@dataclass(frozen=True)
class Insight:
    """The explanation of a row's score on one task."""

    explanation: Explanation
    missed: Sequence[Missed]  #: hyperparameters whose effect the measure misses, largest effect first


def find_insights(rows: Sequence[Row], wanted: Collection[int] | None = None) -> dict[int, dict[str, Insight]]:
    """Return position of a row -> task -> explanation, for public tasks on which the row has an official score."""
    return {
        number: {name: _insight(task) for name, task in row.tasks.items() if task.chance is not None}
        for number, row in enumerate(rows)
        if wanted is None or number in wanted
    }


def time_steps(row: Row) -> list[TimeStep]:
    """Return the row's score under every shorter time limit; [] if a task is hidden, or the settings are not known."""
    scored = {name: task.scored for name, task in row.tasks.items() if task.scored is not None}
    if len(scored) < len(row.tasks) or row.configuration is None:
        return []
    seconds = {
        name: {model: call.call_wall_s for model, call in task.calls.items()} for name, task in row.tasks.items()
    }
    budget: TimeBudget = "average" if row.configuration.time_budget == "average" else "each"
    return scores_by_limit(scored, seconds, budget)


def is_on_front(rows: Sequence[Row]) -> list[bool]:
    """Return whether each row is on the Pareto front of score and time; False for a row without times."""
    timed = [row for row in rows if row.seconds_per_model is not None]
    front = pareto_front([row.seconds_per_model or 0.0 for row in timed], [row.score for row in timed])
    on_front: Mapping[int, bool] = {id(row): on for row, on in zip(timed, front, strict=True)}
    return [on_front.get(id(row), False) for row in rows]


def _insight(task: OnTask) -> Insight:
    assert task.scored is not None
    values, gaps = vectors_of(task.scored)
    return Insight(explain_score(values, gaps, task.scored.grid, N_PAIRS), _missed(task, gaps))


def _missed(task: OnTask, gaps: Vector) -> list[Missed]:
    """Return the missed hyperparameters. If the measure falls with the gap, its negative is examined."""
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


def advice(row: Row, insights: Mapping[str, Insight]) -> list[str]:
    """Return hints for the author of a submission, one per line, except on hidden tasks."""
    lines = [
        f"{', '.join(names)}: {reason.rstrip('.')}. Without a value for every model a task has no score."
        for reason, names in row.reasons.items()
        if not set(names) & set(row.rounded)
    ]
    if row.own_error is not None and row.standing is not None and row.own_error > NOISY_SHARE * row.standing.error:
        lines.append(
            f"its own random draws make a standard error of {row.own_error:.1f} points: average over more draws."
        )
    for name, insight in insights.items():
        lines += [f"{name}: {line}" for line in _advice_on(row.tasks[name], insight)]
    return lines


def _advice_on(task: OnTask, insight: Insight) -> list[str]:
    assert task.score is not None
    assert task.scored is not None
    values = Counter(task.scored.values.values())
    tied = sum(number for number in values.values() if number > 1)
    if len(values) == 1:
        return ["all models have the same value, so the measure does not order them."]
    lines = [
        f"misses the effect of {missed.name}, which explains {100 * missed.share:.0f} % of the variance of the gaps: "
        f"Kendall's tau is {missed.tau:.2f} among models that differ in nothing else."
        for missed in insight.missed
    ]
    if tied > TIED_SHARE * len(task.scored.grid.models):
        lines.append(
            f"{tied} of {len(task.scored.grid.models)} models share their value with another model: ties give no order."
        )
    pairs = insight.explanation.costly_pairs
    if pairs:
        models = Counter(model for pair in pairs for model in (pair.larger_gap, pair.smaller_gap))
        worst = ", ".join(model for model, _ in models.most_common(3))
        lines.append(f"the models whose wrong order costs most: {worst}.")
    p_value = task.p_value if task.adjusted_p_value is None else task.adjusted_p_value
    if p_value is not None and p_value > SIGNIFICANT:
        lines.append(
            f"chance could explain the score ({p_value_equation(p_value)}): only more tasks or models can show whether "
            "the measure predicts anything."
        )
    elif task.score.kendall is not None and task.score.kendall < 0:
        lines.append(
            "models with larger values have smaller gaps: the score ignores this sign, Kendall's tau does not."
        )
    return lines
