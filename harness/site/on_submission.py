"""The page of a submission: its scores, why they are not higher, and its differences from other rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.board.across_tasks import pairs_across_tasks
from harness.board.advice import advice
from harness.board.board import Board
from harness.board.columns import mark_of
from harness.board.insight import Insight
from harness.board.row import Row
from harness.board.states import beside_chance, state_of
from harness.configuration import GIB
from harness.site.axis import Axis, board_axis
from harness.site.part import part
from harness.text import exact, p_value_equation, p_value_text

#: Number of rows above, and of rows below, with which a row's page compares the row.
N_NEAREST = 15

#: Words for `Difference.verdict`.
VERDICTS = {1: "better", 0: "cannot be told apart", -1: "worse"}


def submission_pages(
    board: Board, insights: Mapping[int, Mapping[str, Insight]], pages: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the variables for each page's template. `insights`: position of the page's row -> task -> explanation."""
    axis = board_axis(board)
    for number, of_row in insights.items():
        yield _page(board, number, of_row, pages) | {"axis": replace(axis, chance=board.rows[number].chance_level)}


def _page(board: Board, number: int, insights: Mapping[str, Insight], pages: Sequence[str]) -> dict[str, Any]:
    row = board.rows[number]
    numbers = [points or 0.0 for task in row.tasks.values() for points in (task.official, task.chance_level)]
    return {
        "row": row,
        "position": number,
        "marks": [mark for mark in (mark_of(row), row.settings) if mark],
        "summary": state_of(row, len(board.rows)),
        "chance": beside_chance(row.may_be_chance),
        "p_value": "" if row.adjusted_p_value is None else p_value_equation(row.adjusted_p_value),
        "task_axis": Axis(0.0, 1.04 * max(numbers, default=0.0) or 1.0),
        "facts": _facts(row),
        "advice": advice(row, insights),
        "parts": [part(name, row, insights.get(name)) for name in board.tasks],
        "others": _others(board, number, pages),
        "n_compared": sum(other.standing is not None for other in board.rows) - 1,
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


def _others(board: Board, number: int, pages: Sequence[str]) -> list[dict[str, Any]]:
    across_tasks = pairs_across_tasks(board, number)
    nearest = range(max(0, number - N_NEAREST), min(len(board.rows), number + N_NEAREST + 1))
    differences = {other: board.difference(number, other) for other in sorted({0, *nearest} - {number})}
    return [
        {
            "name": board.rows[other].label, "page": pages[other], "difference": found,
            "p": p_value_text(found.p_value), "verdict": VERDICTS[found.verdict],
            "across_tasks": (pair := across_tasks.get(other)), "wilcoxon": p_value_text(pair.p_value if pair else None),
        }
        for other, found in differences.items() if found is not None
    ]  # fmt: skip
