"""Picks, for every submission, the records that count."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.sandbox.outcome import Outcome
from harness.task.reference import Reference
from scoring import Failure, TaskCalls

if TYPE_CHECKING:  # SQLAlchemy takes longer to import than a score to compute
    from harness.records import Evaluation


@dataclass(frozen=True, slots=True)
class Call:
    """What a board needs of a record."""

    outcome: str
    value: float | None
    call_wall_s: float
    sandbox: str
    is_baseline: bool
    message: str


@dataclass(frozen=True)
class Calls:
    """The records of one submission that count: at most one per task and model."""

    submission: str
    is_baseline: bool
    rows: Mapping[tuple[str, str], Call]

    @property
    def sandboxed(self) -> bool:
        """Whether every call was isolated; otherwise the submission never ranks."""
        return all(row.sandbox != "none" for row in self.rows.values())

    def on(self, task: str, reference: Reference) -> TaskCalls:
        """What scoring needs of the calls on one task; a call without a record is missing."""
        values = {model: value_of(row) for (of, model), row in self.rows.items() if of == task}
        return TaskCalls(reference.grid, reference.gaps, values)


def value_of(row: Call) -> float | Failure:
    """Return a call's value, or why it has none."""
    if row.outcome == Outcome.OK and row.value is not None:
        return row.value
    return Failure(row.outcome, exceeded=row.outcome == Outcome.TIMEOUT)


def collect(evaluations: "Iterable[Evaluation]", references: Mapping[str, Reference]) -> list[Calls]:
    """Return the calls that count of every submission; `evaluations` are ordered oldest first.

    Only the version of a submission that ran last counts. Of a model's records the newest counts, but a
    sandboxed one goes before one that is not.
    """
    newest_version: dict[str, str] = {}
    chosen: dict[tuple[str, str], dict[tuple[str, str], Call]] = defaultdict(dict)
    for row in evaluations:
        newest_version[row.submission] = row.submission_digest
        if row.task not in references or row.model not in references[row.task].gaps:
            continue
        rows = chosen[row.submission, row.submission_digest]
        before = rows.get((row.task, row.model))
        if before is None or before.sandbox == "none" or row.sandbox != "none":
            call = Call(row.outcome, row.value, row.call_wall_s, row.sandbox, row.is_baseline, row.message)
            rows[row.task, row.model] = call
    versions = [(name, chosen[name, digest]) for name, digest in sorted(newest_version.items())]
    return [Calls(name, next(iter(rows.values())).is_baseline, rows) for name, rows in versions if rows]
