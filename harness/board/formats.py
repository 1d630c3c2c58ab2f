"""The board as plain cells, and as Markdown, CSV and JSON."""

import csv
import io
import json
import re
from dataclasses import asdict
from typing import Any

from harness.board.leaderboard import ORACLE_NOISE, Board, Row
from harness.board.rounding import DECIMALS, rounding_note
from scoring import RULE, SubmissionScore, TaskScore

MARKS = {"submission": "", "baseline": "baseline", "oracle": "oracle"}


def notes(board: Board) -> list[str]:
    """Return what a reader must know beside the numbers."""
    rows = board.rows
    lines = [
        *board.remarks,
        RULE,
        f"oracle: computed from the true gaps with noise of {ORACLE_NOISE} added; it is no submission.",
    ]
    if any(not row.sandboxed for row in rows):
        lines.append("not sandboxed: run with --unsafe-no-sandbox, never ranked.")
    if names := {name for row in rows for name in row.rounded}:
        lines.append(rounding_note(names))
    return lines


def headings(board: Board) -> list[str]:
    """Return the column titles."""
    settings = ["settings"] if _settings_differ(board) else []
    return ["rank", "submission", "", *settings, "score", *board.tasks, "s/model", "calls"]


def cells(row: Row, board: Board) -> list[str]:
    """Return a row's cells as text."""
    mark = MARKS[row.kind] if row.sandboxed else f"{MARKS[row.kind]} not sandboxed".strip()
    return [
        "-" if row.rank is None else str(row.rank),
        row.submission,
        mark,
        *([row.settings] if _settings_differ(board) else []),
        "-" if row.result.score is None else f"{row.result.score:.{DECIMALS if row.rounded else 2}f}",
        *(official(row.result.tasks[task], 2 if task not in row.rounded else DECIMALS) for task in board.tasks),
        "-" if row.seconds_per_model is None else f"{row.seconds_per_model:.2f}",
        f"{row.calls_ok}/{row.calls_expected}{' stale' if row.stale else ''}",
    ]


def _settings_differ(board: Board) -> bool:
    return any(row.settings for row in board.rows)


def official(score: TaskScore | str, decimals: int) -> str:
    """Return the official score of a task on the scale from 0 to 100, or why there is none in one word."""
    if isinstance(score, str):
        return "failed"
    return "-" if score.official is None else f"{100 * score.official:.{decimals}f}"


def to_markdown(board: Board) -> str:
    """Return a Markdown table with the notes below it.

    Names stand as code, in which nothing is bold, a link or a formula.
    """
    titles = headings(board)
    table = [list(map(_plain, titles)), ["---"] * len(titles)]
    for row in board.rows:
        named = zip(titles, cells(row, board), strict=True)
        table.append([f"`{cell}`" if title == "submission" else _plain(cell) for title, cell in named])
    lines = ["| " + " | ".join(line) + " |" for line in table]
    return "\n".join(["# Leaderboard", "", *lines, "", *(f"{_plain(note)}  " for note in notes(board)), ""])


#: Characters of markup; underscores but those inside a word; what makes an address a link.
MARKUP = r"[\\`*{}\[\]<>#|~]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])|:(?=//)|(?<=www)\."


def _plain(text: str) -> str:
    """The text with everything escaped that Markdown would take for markup, a link or HTML."""
    return re.sub(MARKUP, lambda found: "".join(f"\\{character}" for character in found[0]), text)


#: Columns of the CSV behind the scores.
FIGURES = (
    "seconds_per_model", "calls_ok", "calls_expected", "stale", "sandboxed", "version", "asked_at", "configuration",
    "settings",
)  # fmt: skip


def to_csv(board: Board) -> str:
    """Return the rows with full precision, but for scores that are rounded; all scores are 0 to 100."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["rank", "submission", "kind", "score", *board.tasks, *FIGURES])
    for row in board.rows:
        figures = _figures(row)
        found = [row.result.tasks[task] for task in board.tasks]
        scores = [percent(score.official) if isinstance(score, TaskScore) else None for score in found]
        writer.writerow(
            [row.rank, row.submission, row.kind, row.result.score, *scores, *(figures[name] for name in FIGURES)]
        )
    return out.getvalue()


def to_json(board: Board) -> str:
    """Return everything that is known of each row."""
    rows = [_row_object(row) for row in board.rows]
    content = {"rule": RULE, "remarks": list(board.remarks), "rows": rows}
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _row_object(row: Row) -> dict[str, Any]:
    configuration = None if row.configuration is None else {"id": row.configuration.id, **asdict(row.configuration)}
    return _figures(row) | {"configuration": configuration} | score_object(row.result)


def _figures(row: Row) -> dict[str, Any]:
    """All of a row but its scores, as text and numbers."""
    asked_at = row.asked_at.isoformat() if row.asked_at else None
    configuration = row.configuration.id if row.configuration else None
    figures = {name: value for name, value in vars(row).items() if name != "result"}
    return figures | {"asked_at": asked_at, "configuration": configuration}


def score_object(result: SubmissionScore) -> dict[str, Any]:
    """Return a submission's score with all digits that it has: `score`, `complete`, `exceeded`, `tasks`.

    A task has `official`, `printed`, `kendall`, `granulated_kendall`, `n_models`, `official_pairs`, `printed_subsets`
    and `granulated_psi`, and `undefined` says why an official score is none; or only `failed`, the reason why it has
    no score. Conditional mutual information is 0 to 100, correlations are -1 to 1.
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
    parts = {
        name: {" x ".join(key) or "none": percent(value) for key, value in getattr(task, name).items()}
        for name in ("official_pairs", "printed_subsets")
    }
    return vars(task) | parts | {"official": percent(task.official), "printed": percent(task.printed)}


def percent(number: float | None) -> float | None:
    """Return a share on the scale from 0 to 100; a rounded one has no more digits there."""
    return None if number is None else round(100 * number, 12)
