"""A comparison of measures as cells, CSV, LaTeX and parquet."""

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.board.comparison import MeasureRow, OnTask, counted
from harness.board.formats import official, percent
from harness.board.rounding import DECIMALS, rounding_note

NOTES = (
    "Score: 100 times the official conditional mutual information, and its mean over the tasks that have one; every "
    "task is scored for itself. A measure without a score on a task stands below those that have one on each.",
    "Kendall: rank correlation with the generalization gap, mean over the same tasks.",
    "s/model: median seconds of a call; work that measures share counts for the one that needs it first.",
)
"""What a reader must know beside the numbers."""

#: Rows of a LaTeX table that fit on a page; a longer one is broken over several (package longtable).
PAGE = 45


def headings(tasks: Sequence[str]) -> list[str]:
    """Return the column titles."""
    return ["rank", "measure", "family", "score", *tasks, "Kendall", "s/model", "failed"]


def cells(row: MeasureRow) -> list[str]:
    """Return a row's cells as text."""
    any_withheld = any(task.withheld for task in row.tasks.values())
    return [
        "-" if row.rank is None else str(row.rank),
        row.measure,
        row.family,
        "-" if row.score is None else f"{row.score:.{DECIMALS if any_withheld else 2}f}",
        *(_official(task) for task in row.tasks.values()),
        "-" if row.kendall is None else f"{row.kendall:.3f}",
        "-" if row.seconds_per_model is None else f"{row.seconds_per_model:.3f}",
        counted(row.failures),
    ]


def notes(rows: Sequence[MeasureRow]) -> list[str]:
    """Return why measures failed, and what a reader must know beside the numbers."""
    withheld = {name for row in rows for name, task in row.tasks.items() if task.withheld}
    failed: dict[str, list[str]] = {}
    for row in rows:
        if row.reason:
            failed.setdefault(row.reason, []).append(row.measure)
    reasons = [f"{', '.join(measures)}: {reason}" for reason, measures in failed.items()]
    return [*reasons, *NOTES, *([rounding_note(withheld)] if withheld else [])]


def _official(task: OnTask) -> str:
    return official("" if task.score is None else task.score, DECIMALS if task.withheld else 2)


def to_csv(rows: Sequence[MeasureRow], tasks: Sequence[str]) -> str:
    """Return a line per measure with all digits; `score:TASK` is 0 to 100 as `score` is, which is their mean."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    scores, correlations = ([f"{what}:{task}" for task in tasks] for what in ("score", "kendall"))
    figures = ["kendall", *correlations, "seconds_per_model", "models", "failed", "outcomes", "reason"]
    writer.writerow(["rank", "measure", "family", "score", *scores, *figures])
    for row in rows:
        found = [row.tasks[task].score for task in tasks]
        scores_found = [None if score is None else percent(score.official) for score in found]
        kendall = [None if score is None else score.kendall for score in found]
        failed = [row.n_models, row.failures.total(), counted(row.failures), row.reason]
        first = [row.rank, row.measure, row.family, row.score]
        writer.writerow([*first, *scores_found, row.kendall, *kendall, row.seconds_per_model, *failed])
    return out.getvalue()


def to_json(rows: Sequence[MeasureRow]) -> str:
    """Return a list of measures, each with its tasks; scores are 0 to 100, correlations -1 to 1."""
    measures = [
        {
            "rank": row.rank,
            "measure": row.measure,
            "family": row.family,
            "score": row.score,
            "kendall": row.kendall,
            "seconds_per_model": row.seconds_per_model,
            "complete": row.complete,
            "sandboxed": row.sandboxed,
            "tasks": [_record(row, name, task) for name, task in row.tasks.items()],
        }
        for row in rows
    ]
    return json.dumps(measures, indent=1, allow_nan=False)


def to_latex(rows: Sequence[MeasureRow], tasks: Sequence[str]) -> str:
    """Return a table with the notes below it, for a paper to include; the first line says which packages it needs."""
    environment, head_ends = ("longtable", ["\\endhead"]) if len(rows) > PAGE else ("tabular", [])
    columns = f"rll{'r' * (len(tasks) + 3)}l"
    packages = "booktabs,longtable" if head_ends else "booktabs"
    return "\n".join(
        [
            f"% \\usepackage{{{packages}}}",
            f"\\begin{{{environment}}}{{{columns}}}",
            "\\toprule",
            _latex_line(headings(tasks)),
            "\\midrule",
            *head_ends,
            *(_latex_line(cells(row)) for row in rows),
            "\\bottomrule",
            f"\\end{{{environment}}}",
            "",
            "{\\footnotesize\\raggedright",
            *(f"{_escaped(note)}\\par" for note in notes(rows)),
            "}",
            "",
        ]
    )


def _latex_line(texts: Sequence[str]) -> str:
    return " & ".join(map(_escaped, texts)) + " \\\\"


def _escaped(text: str) -> str:
    """The text as LaTeX sets it; a minus before a number is one."""
    special = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    text = re.sub(r"[\\~^&%$#_{}]", lambda found: special.get(found[0], f"\\{found[0]}"), text)
    return re.sub(r"^-(?=\d)", "$-$", text)


def write_parquet(rows: Sequence[MeasureRow], path: Path) -> None:
    """Write a row per measure and task, with all digits; scores are 0 to 100, correlations -1 to 1."""
    import pyarrow as pa
    from pyarrow import parquet

    text, number, count = pa.string(), pa.float64(), pa.int64()
    schema = pa.schema(
        {
            "measure": text, "family": text, "task": text, "score": number, "printed": number, "kendall": number,
            "granulated_kendall": number, "seconds_per_model": number, "models": count, "failed": count,
            "outcomes": text, "reason": text,
        }
    )  # fmt: skip
    records = [_record(row, name, task) for row in rows for name, task in row.tasks.items()]
    parquet.write_table(pa.Table.from_pylist(records, schema=schema), path)


def _record(row: MeasureRow, name: str, task: OnTask) -> dict[str, Any]:
    score = task.score
    return {
        "measure": row.measure,
        "family": row.family,
        "task": name,
        "score": None if score is None else percent(score.official),
        "printed": None if score is None else percent(score.printed),
        "kendall": None if score is None else score.kendall,
        "granulated_kendall": None if score is None else score.granulated_kendall,
        "seconds_per_model": task.seconds_per_model,
        "models": task.n_models,
        "failed": task.failures.total(),
        "outcomes": counted(task.failures),
        "reason": task.reason,
    }
