"""What the page of a submission shows."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from harness.board.across_tasks import pairs_across_tasks
from harness.board.board import Board
from harness.board.collect import value_of
from harness.board.columns import mark_of
from harness.board.row import OnTask, Row
from harness.board.scores import decimal
from harness.board.states import state_of, state_on
from harness.configuration import GIB, MIB
from harness.site import charts
from harness.site.insight import Insight, advice, time_steps
from harness.text import exact, p_value_text
from scoring import Failure

#: Failed calls of a task that are shown with their output.
N_FAILURES = 5

#: Cells of the deciding set that are shown.
N_CELLS = 8


#: Words for the verdict on a difference.
VERDICTS = {1: "better", 0: "cannot be told apart", -1: "worse"}


def submission_page(
    board: Board,
    number: int,
    insights: Mapping[str, Insight],
    pages: Sequence[str],
) -> dict[str, Any]:
    """Return the content of the page of the row at this position."""
    row = board.rows[number]
    return {
        "row": row,
        "mark": mark_of(row),
        "summary": state_of(row, len(board.rows)),
        "facts": _facts(row),
        "advice": advice(row, insights),
        "parts": [_part(name, row, insights.get(name)) for name in board.tasks],
        "steps": [{"limit": math.ceil(100 * step.limit_s) / 100, "step": step} for step in time_steps(row)],
        "others": _others(board, number, pages),
    }


def _facts(row: Row) -> list[tuple[str, str]]:
    found = [("version", row.version[:12])]
    if row.requested_at is not None:
        found.append(("requested", f"{row.requested_at:%Y-%m-%d %H:%M} UTC"))
    found.append(("calls with a value", f"{row.calls_ok} of {row.calls_expected}"))
    if row.configuration is not None:
        setting = row.configuration
        found += [
            ("seed", str(setting.run_seed)),
            ("time limit", f"{exact(setting.time_limit_s)} s per model ({setting.time_budget})"),
            ("memory limit", f"{exact(setting.memory_limit_bytes / GIB)} GiB"),
            ("sandbox", setting.isolation),
            ("versions", f"pgdl-harness {setting.harness_version}, {setting.versions}"),
        ]
    if row.standing is not None and row.standing.gap_error is not None and row.standing.model_error is not None:
        gap, model = row.standing.gap_error, row.standing.model_error
        found.append(("standard error", f"{row.standing.error:.2f}: {gap:.2f} from test sets, {model:.2f} from models"))
    if row.standing is not None and row.standing.tasks_low is not None and row.standing.tasks_high is not None:
        low, high = row.standing.tasks_low, row.standing.tasks_high
        found.append(("on other tasks like these", f"mean score from {low:.1f} to {high:.1f} (90 % interval)"))
    if row.own_error is not None:
        found.append(("own randomness", f"standard error of {row.own_error:.2f} from the measure's own random draws"))
    return found


def _part(name: str, row: Row, insight: Insight | None) -> dict[str, Any]:
    task = row.tasks[name]
    failures = [model for model, call in task.calls.items() if isinstance(value_of(call), Failure)]
    return {
        "name": name,
        "text": task.official_text(),
        "state": state_on(task),
        "failed": task.official is None,
        "figures": _figures(task, insight),
        "scatter": charts.scatter(task),
        "heat_map": charts.heat_map(task),
        "insight": insight,
        "why": _why(insight) if insight else "",
        "cells": insight.explanation.cells[:N_CELLS] if insight else [],
        "failures": [task.calls[model] for model in failures[:N_FAILURES]],
        "more_failures": max(0, len(failures) - N_FAILURES),
        "calls": _calls(task),
    }


def _figures(task: OnTask, insight: Insight | None) -> list[tuple[str, str]]:
    found = []
    if task.score is not None and not task.withheld:
        found += [("Kendall's tau", decimal(task.score.kendall, 3)),
                  ("granulated Kendall", decimal(task.score.granulated_kendall, 3))]  # fmt: skip
    if insight is not None:
        chance = insight.chance
        found += [
            ("score by chance", f"{100 * chance.level:.2f}"),
            ("above chance", f"{100 * chance.excess:.2f}"),
            ("p-value", f"{p_value_text(task.p_value)} (adjusted {p_value_text(task.adjusted_p_value)})"),
        ]
    if task.calls:
        seconds = [call.call_wall_s for call in task.calls.values()]
        memory = max(call.peak_memory_bytes for call in task.calls.values())
        found += [
            ("seconds per model", f"median {statistics.median(seconds):.2f}, longest {max(seconds):.2f}"),
            ("most memory", f"{memory / MIB:.0f} MiB"),
        ]
    return found


def _why(insight: Insight) -> str:
    both = " and ".join(insight.explanation.deciding)
    return (
        f"The measure adds least to what {both} already tell: {100 * insight.explanation.score:.2f} of 100. "
        "That is the score of the task."
    )


def _calls(task: OnTask) -> list[dict[str, Any]]:
    if task.scored is None:
        return []
    lines = []
    for model in task.scored.grid.models:
        call = task.calls.get(model)
        if call is not None:
            value = value_of(call)
            number = None if isinstance(value, Failure) else value
            lines.append({
                "model": model, "gap": task.scored.gap[model], "value": number,
                "shown": value.outcome if isinstance(value, Failure) else f"{value:.6g}",
                "seconds": call.call_wall_s, "mib": call.peak_memory_bytes / MIB,
            })  # fmt: skip
    return lines


def _others(board: Board, number: int, pages: Sequence[str]) -> list[dict[str, Any]]:
    """Return a line for each other row: its name and page, and how much better the row at this position is."""
    across_tasks = pairs_across_tasks(board, number)
    differences = {other: board.difference(number, other) for other in range(len(board.rows)) if other != number}
    return [
        {
            "name": board.rows[other].label, "page": pages[other], "difference": found,
            "p": p_value_text(found.p_value), "verdict": VERDICTS[found.verdict],
            "across_tasks": across_tasks.get(other),
        }
        for other, found in differences.items() if found is not None
    ]  # fmt: skip
