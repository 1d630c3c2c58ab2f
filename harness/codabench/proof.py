"""Calls that are made again, to see whether recorded values are those of a submission."""

import math
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.api.calls import Run, record_calls
from harness.api.progress import Progress
from harness.outcome import Outcome
from harness.records import Evaluation, Records
from harness.submission import Submission

#: Fewest calls of a submission that are made again.
FEWEST = 8

#: Relative difference of values on two classes of machines, whose last digits may differ.
TOLERANCE = 1e-6

#: Calls that are made again.
Drawn = Sequence[Evaluation]


def draw(rows: Sequence[Evaluation], share: float) -> Drawn:
    """Return a share of the calls that have a value, at random, at least `FEWEST` of them; none for a share of 0."""
    right = [row for row in rows if row.outcome == Outcome.OK]
    number = max(FEWEST, math.ceil(share * len(right))) if share else 0
    return secrets.SystemRandom().sample(right, min(number, len(right)))


def made_again(drawn: Drawn, submission: Submission, run: Run, progress: Progress) -> dict[tuple[str, str], Evaluation]:
    """Make calls of a submission again, on the tasks of a run; returns task and model -> record."""
    wanted = {(row.task, row.model) for row in drawn}
    tasks = [
        replace(task, models=tuple(model for model in task.models if (task.name, model.id) in wanted))
        for task in run.tasks
    ]
    with tempfile.TemporaryDirectory() as temporary, Records(Path(temporary, "again.db")) as records:
        again = replace(run, submissions=[submission], tasks=[task for task in tasks if task.models])
        record_calls(again, records, progress)
        return {(row.task, row.model): row for row in records.whole_of()}


def differences(rows: Sequence[Evaluation], drawn: Drawn, again: Mapping[tuple[str, str], Evaluation]) -> list[str]:
    """Return a line for each drawn call of `rows` that is not confirmed by its record here, by task and model.

    On one class of machines values must be equal. On two, they may differ by `TOLERANCE`, but must have the same order
    as recorded, on which scores depend: otherwise a measure that is nearly constant would fit to any values.
    """
    return [line for row in drawn if (line := _difference(rows, row, again.get((row.task, row.model))))]


def _difference(rows: Sequence[Evaluation], row: Evaluation, here: Evaluation | None) -> str:
    where = f"{row.task}/{row.model}: {row.value} on the platform,"
    if here is None or here.value is None or row.value is None:
        return f"{where} {'nothing' if here is None else here.outcome} here"
    if row.value == here.value:
        return ""
    if _class_of(row) == _class_of(here) or not math.isclose(row.value, here.value, rel_tol=TOLERANCE):
        return f"{where} {here.value} here"
    for other in rows:
        if other.task != row.task or other.value is None or other.value == row.value:
            continue
        if (row.value > other.value) != (here.value > other.value) or here.value == other.value:
            return f"{where} {here.value} here, in another order than recorded with {other.model}"
    return ""


def _class_of(row: Evaluation) -> str | None:
    return row.environment.get("machine_class")
