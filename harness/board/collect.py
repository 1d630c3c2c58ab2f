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


@dataclass(frozen=True)
class Calls:
    """The records of one submission that count: at most one per task and model."""

    submission: str
    is_baseline: bool
    rows: "Mapping[tuple[str, str], Evaluation]"

    @property
    def sandboxed(self) -> bool:
        """Whether every call was isolated; otherwise the submission never ranks."""
        return all(row.sandbox != "none" for row in self.rows.values())

    def on(self, task: str, reference: Reference) -> TaskCalls:
        """What scoring needs of the calls on one task; a call without a record is missing."""
        values = {model: value_of(row) for (of, model), row in self.rows.items() if of == task}
        return TaskCalls(reference.grid, reference.gaps, values)


def value_of(row: "Evaluation") -> float | Failure:
    """Return a record's value, or why it has none."""
    if row.outcome == Outcome.OK and row.value is not None:
        return row.value
    return Failure(row.outcome, exceeded=row.outcome == Outcome.TIMEOUT)


def collect(evaluations: "Sequence[Evaluation]", references: Mapping[str, Reference]) -> list[Calls]:
    """Return the calls that count of every submission; `evaluations` are ordered oldest first.

    Only the version of a submission that ran last counts. Of a model's records the newest counts, but a
    sandboxed one goes before one that is not.
    """
    newest_version = {row.submission: row.submission_digest for row in evaluations}
    chosen: dict[str, dict[tuple[str, str], Evaluation]] = defaultdict(dict)
    for row in evaluations:
        known = row.task in references and row.model in references[row.task].gaps
        if not known or row.submission_digest != newest_version[row.submission]:
            continue
        place = (row.task, row.model)
        before = chosen[row.submission].get(place)
        if before is None or before.sandbox == "none" or row.sandbox != "none":
            chosen[row.submission][place] = row
    return [Calls(name, next(iter(rows.values())).is_baseline, rows) for name, rows in sorted(chosen.items())]
