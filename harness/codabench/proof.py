"""Calls that are made again, to see whether recorded values are those of a submission."""

import math
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from harness.api import Progress
from harness.api.calls import Run, record_with
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


def made_again(drawn: Drawn, submission: Submission, run: Run, progress: Progress) -> dict[tuple[str, str], Any]:
    """Make calls of a submission again, on the tasks of a run; returns task and model -> record."""
    wanted = {(row.task, row.model) for row in drawn}
    tasks = [
        replace(task, models=tuple(model for model in task.models if (task.name, model.id) in wanted))
        for task in run.tasks
    ]
    with tempfile.TemporaryDirectory() as temporary, Records(Path(temporary, "again.db")) as records:
        again = replace(run, submissions=[submission], tasks=[task for task in tasks if task.models])
        record_with(again, records, progress)
        return {(row.task, row.model): row for row in records.newest_of(long=True)}


def differences(drawn: Drawn, again: Mapping[tuple[str, str], Any]) -> list[str]:
    """Return a line for each call whose value here shows that the recorded one is not the submission's.

    On one class of machines values must be equal. On two, they may differ by `TOLERANCE`, but must have the same order,
    on which scores depend: otherwise a measure that is nearly constant would fit to any values.
    """
    lines, exact = [], True
    for row in drawn:
        here = again.get((row.task, row.model))
        if here is None or here.value is None or row.value is None:
            lines.append(_line(row, "nothing" if here is None else here.outcome))
            continue
        same_class = _class_of(row) == _class_of(here)
        exact = exact and same_class
        if row.value != here.value and (same_class or not math.isclose(row.value, here.value, rel_tol=TOLERANCE)):
            lines.append(_line(row, here.value))
    return lines or ([] if exact else list(_disorder(drawn, again)))


def _disorder(drawn: Drawn, again: Mapping[tuple[str, str], Any]) -> Iterator[str]:
    """Yield a line for each two calls on one task whose values have another order here."""
    for first, second in combinations(drawn, 2):
        here, there = (again[row.task, row.model].value for row in (first, second))
        recorded = _sign((first.value or 0.0) - (second.value or 0.0))
        if first.task == second.task and recorded != _sign(here - there):
            yield _line(first, f"another order than with {second.model}")


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _class_of(row: Any) -> object:
    return row.environment.get("machine_class") if isinstance(row.environment, dict) else None


def _line(row: Evaluation, here: object) -> str:
    return f"{row.task}/{row.model}: {row.value} on the platform, {here} here"
