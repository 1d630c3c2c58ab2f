"""What the author of a submission may try next, from what its calls showed."""

from collections import Counter
from collections.abc import Mapping

from harness.board.row import SIGNIFICANT, Row
from harness.site.insight import Insight
from harness.text import p_value_equation

#: A tenth of the models is noticeable.
TIED_SHARE = 0.1

#: Part of a score's standard error from which averaging over more draws is worth its time.
NOISY_SHARE = 0.5


def advice(row: Row, insights: Mapping[str, Insight]) -> list[str]:
    """Return hints, one per line; the most urgent first. Withheld tasks give none."""
    lines = []
    for name, task in row.tasks.items():
        if task.failures and not task.withheld:
            lines.append(f"{name}: {task.reason}. Without a value for every model the task has no score.")
    if row.own_error is not None and row.standing is not None and row.own_error > NOISY_SHARE * row.standing.error:
        lines.append(
            f"its own random draws make a standard error of {row.own_error:.1f} points: average over more draws."
        )
    for name, insight in insights.items():
        lines += [f"{name}: {line}" for line in _on_task(row, name, insight)]
    return lines


def _on_task(row: Row, name: str, insight: Insight) -> list[str]:
    task = row.tasks[name]
    assert task.score is not None
    assert task.scored is not None
    lines = []
    values = Counter(task.scored.values.values())
    tied = sum(number for number in values.values() if number > 1)
    if len(values) == 1:
        return ["all models have the same value, so there is no order that could tell anything."]
    if tied > TIED_SHARE * len(task.scored.grid.models):
        lines.append(
            f"{tied} of {len(task.scored.grid.models)} models share their value with another; ties tell nothing."
        )
    pairs = insight.explanation.costly_pairs
    if pairs:
        models = Counter(model for pair in pairs for model in (pair.larger_gap, pair.smaller_gap))
        worst = ", ".join(model for model, _ in models.most_common(3))
        lines.append(f"most often in the pairs that cost most, which are not in the order of their gaps: {worst}.")
    if insight.chance.p_value > SIGNIFICANT:
        lines.append(
            f"the score is within the range of chance ({p_value_equation(insight.chance.p_value)}): more tasks or "
            "models are needed to tell whether the measure knows anything."
        )
    elif task.score.kendall is not None and task.score.kendall < 0:
        lines.append("larger values go with smaller gaps; the score ignores the sign, Kendall's tau does not.")
    return lines
