"""The part of a submission's page that shows its results on one task."""

import statistics
from typing import Any

from harness.board.collect import CallRecord, value_of
from harness.board.insight import Insight
from harness.board.on_task import OnTask
from harness.board.row import Row
from harness.board.scores import decimal
from harness.board.states import beside_chance, state_on
from harness.configuration import MIB
from harness.outcome import kind_of_failure
from harness.site import charts
from harness.text import p_value_text
from scoring import Failure

#: Maximum number of different failures that are shown, each with the output of its first call.
N_FAILURES = 5

#: Maximum number of cells (`Explanation.cells`) that are shown.
N_CELLS = 8


def part(name: str, row: Row, insight: Insight | None) -> dict[str, Any]:
    """Return the variables for the template of a row's results on a task. `insight` explains the task's score."""
    task = row.tasks[name]
    failures, state = _failures(task), state_on(task)
    return {
        "name": name,
        "text": task.official_text(),
        "official": task.official,
        "level": task.chance_level,
        "verdict": beside_chance(task.may_be_chance),
        "state": state,
        "failed": task.official is None,
        "figures": _figures(task),
        "scatter": charts.scatter(task, _coloured_by(insight)),
        "pairs": _pairs(task),
        "insight": insight,
        "why": state or (_why(insight) if insight else ""),
        "cells": insight.explanation.cells[:N_CELLS] if insight else [],
        "failures": failures[:N_FAILURES],
        "more_failures": sum(map(len, failures[N_FAILURES:])),
        "calls": _calls(task),
    }


def _failures(task: OnTask) -> list[list[CallRecord]]:
    """Return the failed calls, grouped by outcome and message; numbers in messages may differ within a group."""
    groups: dict[tuple[str, str], list[CallRecord]] = {}
    for call in task.calls.values():
        if isinstance(value_of(call), Failure):
            groups.setdefault(kind_of_failure(call.outcome, call.message), []).append(call)
    return list(groups.values())


def _coloured_by(insight: Insight | None) -> str:
    if insight is None:
        return ""
    return insight.missed[0].name if insight.missed else insight.explanation.deciding[0]


def _pairs(task: OnTask) -> dict[str, Any] | None:
    """Return a table of the scores conditioned on pairs of hyperparameters, one of the line and one of the column.

    A cell has the score, the score's share of the largest score, and whether it is the smallest score.
    """
    if task.score is None or not task.score.official_pairs:
        return None
    pairs = {frozenset(pair): 100 * value for pair, value in task.score.official_pairs.items()}
    names, least, most = sorted(set().union(*pairs)), min(pairs.values()), max(pairs.values()) or 1.0
    return {
        "names": names[:-1],
        "lines": [
            (name, [(value := pairs[frozenset((name, other))], f"{max(0.0, value) / most:.2f}", value == least)
                    for other in names[:row]])
            for row, name in enumerate(names[1:], start=1)
        ],
    }  # fmt: skip


def _figures(task: OnTask) -> list[tuple[str, str]]:
    found = []
    if task.score is not None and not task.withheld:
        found += [("Kendall's tau", decimal(task.score.kendall, 3)),
                  ("granulated Kendall", decimal(task.score.granulated_kendall, 3))]  # fmt: skip
    if task.chance is not None:
        found += [
            ("score by chance", f"{100 * task.chance.level:.2f}"),
            ("above chance", f"{100 * task.chance.excess:.2f}"),
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
