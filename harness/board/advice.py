"""Hints for the authors of submissions: what to try next."""

from collections import Counter
from collections.abc import Mapping

from harness.board.insight import Insight
from harness.board.on_task import MISSING, SIGNIFICANT, OnTask, counted
from harness.board.row import Row
from harness.outcome import Outcome
from harness.text import exact, p_value_equation

TIED_SHARE = 0.1  #: a hint names tied values if more than this share of the models has them

#: A hint names the measure's own random draws if their standard error exceeds this share of the score's standard error.
NOISY_SHARE = 0.5


def advice(row: Row, insights: Mapping[str, Insight]) -> list[str]:
    """Return hints for the author of a submission, one per line. Hidden tasks get no hints."""
    lines = _advice_on_calls(row)
    if row.own_error is not None and row.standing is not None and row.own_error > NOISY_SHARE * row.standing.error:
        lines.append(
            f"its own random draws make a standard error of {row.own_error:.1f} points: average over more draws."
        )
    for name, insight in insights.items():
        lines += [f"{name}: {line}" for line in _advice_on(row.tasks[name], insight)]
    return lines


def _advice_on_calls(row: Row) -> list[str]:
    failures, lines = row.public_failures, []
    if missing := failures.pop(MISSING, 0) + failures.pop(Outcome.INFRA_ERROR, 0):
        lines.append(f"complete the run: the same command makes only the missing calls ({missing}).")
    if failures:
        calls = [call for task in row.tasks.values() if not task.withheld for call in task.calls.items()]
        example = next(model for model, call in calls if call.outcome in failures)
        where = " on public tasks" if row.rounded else ""
        lines.append(
            f"repair what failed{where} ({counted(failures)}): pgdl check with --models {example} and the options of "
            "the run makes such a call again, and prints where it failed."
        )
    if Outcome.TIMEOUT in failures and row.configuration and row.configuration.time_budget == "average":
        limit = exact(row.configuration.time_limit_s)
        lines.append(f"calls share their time: on each task, their mean must stay below {limit} s.")
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
        lines.append(f"look at {worst} first: wrongly ordered pairs with these models cost most.")
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
