"""Reference data and records for tests of boards; they need no model."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from harness.board.board import Board
from harness.board.collect import Calls, Collected
from harness.board.comparison import compare_calls
from harness.board.formats import find
from harness.board.leaderboard import build_board
from harness.board.row import Row
from harness.board.versions import find_versions, read_records
from harness.format.reference import Reference, read_reference, reference_entry
from harness.outcome import Outcome
from harness.records import Evaluation, Records, Request
from harness.task.contents import Contents
from harness.task.layout import TaskDirectory
from tests.records.evaluation_rows import evaluation
from tests.throwaway import write_json

#: A grid of 2 x 2 x 2 models for which the competition's own scoring program was run.
GAPS = [0.10, 0.20, 0.15, 0.30, 0.12, 0.22, 0.05, 0.40]
MEASURE = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
OFFICIAL = 0.2954181599391297

#: Names of tasks that a format could confuse with its own signs, cut off, or set in the wrong direction.
HARD_NAMES = (
    "a,b", "a|b", "a&b", "a_b", "_a_", "a;b", 'a"b', "a b", "a'b", "a\\b", "<b>a", "{{ a }}", "=1+1", "-1", "a:b",
    "n" * 200, "مهمة " + "تعميم" * 19,
)  # fmt: skip

#: Name of a task -> its reference data.
Known = dict[str, Reference]

MODELS = [f"model_{number}" for number in range(8)]


def write_reference(
    directory: Path,
    task: str = "toy",
    gaps: Sequence[float] = GAPS,
    sizes: Sequence[int] = (2, 2, 2),
    *,
    hidden: bool = False,
) -> Path:
    """Write TASK/model_configs.json with one hyperparameter per size, and a hidden task's mark; return `directory`."""
    axes = {f"axis_{letter}": list(range(size)) for letter, size in zip("abcdefg", sizes, strict=False)}
    cells = [dict(zip(axes, cell, strict=True)) for cell in product(*axes.values())]
    content = {
        str(number): reference_entry(axes, cell, {"train_acc": gap, "test_acc": 0.0})
        for number, (cell, gap) in enumerate(zip(cells, gaps, strict=True))
    }
    write_json(directory / task / "model_configs.json", content)
    if hidden:
        (directory / task / "metadata").write_text("hidden: true\n")
    return directory


def references(directory: Path, *tasks: str, **options: Any) -> Known:
    """Write and read reference data of several tasks with the same content; `options` go to `write_reference`."""
    for task in tasks or ("toy",):
        write_reference(directory, task, **options)
    return {name: read_reference(path) for name, path in sorted(TaskDirectory(directory).references().items())}


def rows(
    submission: str,
    values: Sequence[float] | Mapping[str, float] = MEASURE,
    task: str | Sequence[str] = "toy",
    **columns: Any,
) -> list[Evaluation]:
    """Records of a submission's calls on one task or several; a list of values is that of model_0, model_1, ..."""
    if not isinstance(values, Mapping):
        values = dict(zip(MODELS, values, strict=False))
    return [
        evaluation(submission=submission, task=name, model=model, value=value, **columns)
        for name in ([task] if isinstance(task, str) else task)
        for model, value in values.items()
    ]


def collect(
    evaluations: Iterable[Evaluation],
    references: Mapping[str, Reference],
    requests: Iterable[Request] = (),
    contents: Mapping[str, Contents] | None = None,
    *,
    everything: bool = False,
) -> Collected:
    """Return the calls that count for a board, from a new database with these records and requests."""
    with Records("sqlite://") as records:
        records.add(*evaluations)
        records.ask(requests)
        found = find_versions(records, references, everything=everything)
        return read_records(records, found, references, contents or {})


def board_of(
    evaluations: Iterable[Evaluation],
    references: Mapping[str, Reference],
    withheld: Iterable[str] = (),
    requests: Iterable[Request] = (),
    **named: Any,
) -> Board:
    """Return the leaderboard of a new database with these records and requests; `named` goes to `build_board`."""
    return build_board(collect(evaluations, references, requests), references, [*withheld], **named)


def by_name(board: Board) -> dict[str, Row]:
    return {row.submission: row for row in board.rows}


def in_csv(board: Board) -> dict[str, dict[str, str]]:
    """Return submission or measure -> its line of the board as CSV."""
    lines = csv.DictReader(io.StringIO(str(find("csv").render(board))))
    return {line.get("submission") or line["measure"]: line for line in lines}


def in_json(board: Board) -> dict[str, dict[str, Any]]:
    """Return submission -> its row of the leaderboard as JSON."""
    return {row["submission"]: row for row in json.loads(str(find("json").render(board)))["rows"]}


def compare(
    evaluations: Iterable[Evaluation],
    references: Mapping[str, Reference],
    families: Mapping[str, str],
    *rest: Any,
    **named: Any,
) -> Board:
    found = {calls.submission: calls for calls in collect(evaluations, references).shown}
    called = [found.get(measure, Calls(measure, is_baseline=True, rows={})) for measure in families]
    return compare_calls(called, references, families, *rest, **named)


def failed(submission: str, model: str, outcome: Outcome, task: str = "toy", **columns: Any) -> Evaluation:
    return evaluation(submission=submission, task=task, model=model, outcome=outcome, **columns)


def over_tasks(*tasks: str) -> list[Evaluation]:
    """Records of "best", "fair" and "weak" on these tasks; a fourth submission, "half", lacks one record."""
    records = []
    for number, task in enumerate(tasks):
        random = np.random.default_rng(number)
        for name, noise in {"best": 0.0, "fair": 0.1, "weak": 0.2}.items():
            records += rows(name, [gap + noise * random.normal() for gap in GAPS], task)
        records += rows("half", GAPS[: 7 if number == 0 else 8], task)
    return records
