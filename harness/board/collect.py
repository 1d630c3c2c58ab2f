"""Picks, for every submission, the records that count, and says of the others why they do not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from harness.configuration import Configuration, configuration_of
from harness.format.reference import Reference
from harness.outcome import Outcome
from harness.submission import LIBRARY
from harness.task.contents import Contents
from scoring import Failure, TaskCalls

if TYPE_CHECKING:  # SQLAlchemy takes longer to import than a score to compute
    from harness.records import Request

#: Task and model.
Cell = tuple[str, str]

#: A row of the table `evaluations` (harness/records/evaluation.py), as it is or without its long columns.
Record = Any


@dataclass(frozen=True)
class Calls:
    """The records of one version of a submission, made in one configuration: at most one per task and model.

    Attributes:
        rows: the records that count: submission, model and data were what they are now.
        stale: tasks and models whose records are of other models or data than are there now.
        version: digest of the submission's files.
        source: where they lay when it was last asked for; `library` for a measure of the library.
        asked_at: when it was last asked for.
    """

    submission: str
    is_baseline: bool
    rows: Mapping[Cell, Record]
    stale: frozenset[Cell] = frozenset()
    version: str = ""
    configuration: Configuration | None = None
    source: str = LIBRARY
    asked_at: datetime | None = None

    @property
    def sandboxed(self) -> bool:
        """Whether the calls were isolated; otherwise the submission never ranks."""
        return self.configuration is None or self.configuration.isolation != "none"

    def on(self, task: str, reference: Reference) -> TaskCalls:
        """What scoring needs of the calls on one task; a call without a record is missing."""
        values = {model: value_of(row) for (of, model), row in self.rows.items() if of == task}
        return TaskCalls(reference.grid, reference.gaps, values)


@dataclass(frozen=True)
class Collected:
    """What a board is made from.

    Attributes:
        shown: the calls that make its rows.
        left_out: calls of other versions of the same submissions, and of the same version before a library or the
            harness changed its version.
    """

    shown: Sequence[Calls]
    left_out: Sequence[Calls] = ()


def value_of(row: Record) -> float | Failure:
    """Return a call's value, or why it has none."""
    if row.outcome == Outcome.OK and row.value is not None:
        return float(row.value)
    return Failure(row.outcome, exceeded=row.outcome == Outcome.TIMEOUT)


@dataclass
class _Group:
    """The records of one version and configuration while they are read."""

    first: Record
    rows: dict[Cell, Record] = field(default_factory=dict)
    stale: set[Cell] = field(default_factory=set)


def collect(
    evaluations: Iterable[Record],
    references: Mapping[str, Reference],
    requests: "Sequence[Request]" = (),
    contents: Mapping[str, Contents] | None = None,
    *,
    everything: bool = False,
) -> Collected:
    """Return the calls that count.

    Of a submission's versions the one is shown that was last asked for on these tasks; of configurations that differ in
    nothing but versions of libraries and the harness, too. Others are several rows.

    Args:
        evaluations: records, oldest first; of several with one key the newest alone.
        references: task -> reference data.
        requests: what was asked for, oldest first.
        contents: task -> what it holds now; a task that is absent cannot be compared with its records.
        everything: show all versions and configurations.
    """
    groups: dict[tuple[str, str, str], _Group] = {}
    for row in evaluations:
        if row.task in references and row.model in references[row.task].gaps:
            group = groups.setdefault((row.submission, row.submission_digest, row.configuration), _Group(row))
            cell = row.task, row.model
            if _is_of(row, (contents or {}).get(row.task)):
                group.rows[cell] = row
            else:
                group.stale.add(cell)
    asked: dict[tuple[str, str, str], tuple[int, Request]] = {
        (request.submission, request.submission_digest, request.configuration): (number, request)
        for number, request in enumerate(requests)
        if request.task in references
    }
    order = {name: (asked[name][0] if name in asked else -1, number) for number, name in enumerate(groups)}
    newest_first = sorted(groups, key=lambda name: order[name], reverse=True)
    everyone = {name: _calls(groups[name], asked[name][1] if name in asked else None) for name in newest_first}
    shown = list(everyone) if everything else _newest(everyone)
    alphabetical = sorted(shown)
    return Collected(
        [everyone[name] for name in alphabetical], [everyone[name] for name in everyone if name not in shown]
    )


def _is_of(row: Record, contents: Contents | None) -> bool:
    """Whether a record was made on what the task holds now."""
    return contents is None or (contents.models.get(row.model) == row.model_digest and contents.data == row.data_digest)


def _calls(group: _Group, request: "Request | None") -> Calls:
    first = group.first
    return Calls(
        submission=first.submission,
        is_baseline=first.is_baseline,
        rows=group.rows,
        stale=frozenset(group.stale - group.rows.keys()),
        version=first.submission_digest,
        configuration=configuration_of(first),
        source=request.source if request else first.submission,
        asked_at=request.requested_at if request else None,
    )


def _newest(everyone: Mapping[tuple[str, str, str], Calls]) -> set[tuple[str, str, str]]:
    """Of each submission the version that comes first, and of each of its settings the versions that come first."""
    version: dict[str, str] = {}
    chosen: dict[tuple[str, Configuration | None], tuple[str, str, str]] = {}
    for name, calls in everyone.items():
        if version.setdefault(calls.submission, calls.version) == calls.version:
            settings = calls.configuration.settings if calls.configuration else None
            chosen.setdefault((calls.submission, settings), name)
    return set(chosen.values())
