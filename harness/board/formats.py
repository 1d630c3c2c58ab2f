"""The board as plain cells, and as Markdown, CSV and JSON."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from harness.board.leaderboard import ORACLE_NOISE, Row
from harness.board.rounding import DECIMALS, rounding_note
from scoring import RULE, SubmissionScore, TaskScore

MARKS = {"submission": "", "baseline": "baseline", "oracle": "oracle"}


def notes(rows: Sequence[Row]) -> list[str]:
    """Return what a reader must know beside the numbers."""
    lines = [
        RULE,
        f"oracle: computed from the true gaps with noise of {ORACLE_NOISE} added; it is no submission.",
    ]
    if any(not row.sandboxed for row in rows):
        lines.append("not sandboxed: run with --unsafe-no-sandbox, never ranked.")
    if names := {name for row in rows for name in row.rounded}:
        lines.append(rounding_note(names))
    return lines


def headings(tasks: Sequence[str]) -> list[str]:
    """Return the column titles."""
    return ["rank", "submission", "", "score", *tasks, "s/model", "calls"]


def cells(row: Row, tasks: Sequence[str]) -> list[str]:
    """Return a row's cells as text."""
    mark = MARKS[row.kind] if row.sandboxed else f"{MARKS[row.kind]} not sandboxed".strip()
    scores = {task: row.result.tasks[task] for task in tasks}
    return [
        "-" if row.rank is None else str(row.rank),
        row.submission,
        mark,
        "-" if row.result.score is None else f"{row.result.score:.{DECIMALS if row.rounded else 2}f}",
        *(_official(score, 2 if task not in row.rounded else DECIMALS) for task, score in scores.items()),
        "-" if row.seconds_per_model is None else f"{row.seconds_per_model:.2f}",
        f"{row.calls_ok}/{row.calls_expected}",
    ]


def _official(score: TaskScore | str, decimals: int) -> str:
    return f"{100 * score.official:.{decimals}f}" if isinstance(score, TaskScore) else "failed"


def to_markdown(rows: Sequence[Row], tasks: Sequence[str]) -> str:
    """Return a Markdown table with the rule below it."""
    table = [headings(tasks), ["---"] * len(headings(tasks)), *(cells(row, tasks) for row in rows)]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in table]
    return "\n".join(["# Leaderboard", "", *lines, "", *(f"{note}  " for note in notes(rows)), ""])


def to_csv(rows: Sequence[Row], tasks: Sequence[str]) -> str:
    """Return the rows with full precision, but for scores that are rounded."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            "rank",
            "submission",
            "kind",
            "score",
            *tasks,
            "seconds_per_model",
            "calls_ok",
            "calls_expected",
            "sandboxed",
        ]
    )
    for row in rows:
        scores = (row.result.tasks[task] for task in tasks)
        official = [score.official if isinstance(score, TaskScore) else None for score in scores]
        figures = [row.seconds_per_model, row.calls_ok, row.calls_expected, row.sandboxed]
        writer.writerow([row.rank, row.submission, row.kind, row.result.score, *official, *figures])
    return out.getvalue()


def to_json(rows: Sequence[Row]) -> str:
    """Return everything that is known of each row."""
    content = {"rule": RULE, "rows": [_row_object(row) for row in rows]}
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _row_object(row: Row) -> dict[str, Any]:
    figures = {name: value for name, value in vars(row).items() if name != "result"}
    return figures | score_object(row.result)


def score_object(result: SubmissionScore) -> dict[str, Any]:
    """Return a submission's score with all digits that it has: `score`, `complete`, `exceeded`, `tasks`.

    A task has `official`, `printed`, `kendall`, `granulated_kendall`, `n_models`, `official_pairs`,
    `printed_subsets` and `granulated_psi`; or only `failed`, the reason why it has no score.
    """
    return {
        "score": result.score,
        "complete": result.complete,
        "exceeded": result.exceeded,
        "tasks": {
            name: _task_object(task) if isinstance(task, TaskScore) else {"failed": task}
            for name, task in result.tasks.items()
        },
    }


def _task_object(task: TaskScore) -> dict[str, Any]:
    fields = dict(vars(task))
    for name in ("official_pairs", "printed_subsets"):
        fields[name] = {" x ".join(key) or "none": value for key, value in fields[name].items()}
    return fields
