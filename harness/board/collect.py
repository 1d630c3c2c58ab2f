"""The calls behind a row of a board: the submission's version and configuration, and the records that count."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from harness.about import About
from harness.configuration import Configuration
from harness.format.reference import Reference
from harness.names import LIBRARY
from harness.outcome import Outcome
from scoring import Failure, TaskCalls

if TYPE_CHECKING:
    from harness.records import Record  # here: the verification of a site needs no database

#: Stands for the outcome of a call whose record was made with an earlier version of the task's model or data.
STALE = "stale"

#: Task and model.
Cell = tuple[str, str]

#: Name and digest of a submission, and the ID of a configuration: they identify a row of a board.
RowKey = tuple[str, str, str]


class CallRecord(Protocol):
    """The record of a call, of a database or of a site (docs/records.md)."""

    # fmt: off
    @property
    def key(self) -> str: ...  # noqa: D102
    @property
    def outcome(self) -> str: ...  # noqa: D102
    @property
    def value(self) -> float | None: ...  # noqa: D102
    @property
    def message(self) -> str: ...  # noqa: D102
    @property
    def call_wall_s(self) -> float: ...  # noqa: D102
    @property
    def peak_memory_bytes(self) -> int: ...  # noqa: D102
    # fmt: on


@dataclass(frozen=True)
class Calls:
    """The records of one version of a submission, made in one configuration: at most one per task and model.

    Attributes:
        rows: the records that count: records of the task's present models and data.
        stale: tasks and models whose records were made with an earlier version of the task.
        version: digest of the submission's files.
        source: path of these files in the most recent request; `library` for a measure of the library.
        requested_at: time of the most recent request.
        age: number of rows that were requested later; times do not decide the order, since clocks differ.
        recorded_configuration: the ID of the configuration in records and requests.
        repeats: task and model -> the values of repeated calls, in their order; they never count in a score.
        deterministic: whether the submission claims that its value depends on no seed.
        about: team, description and link from the submission's metadata.
    """

    submission: str
    is_baseline: bool
    rows: Mapping[Cell, CallRecord]
    stale: frozenset[Cell] = frozenset()
    version: str = ""
    configuration: Configuration | None = None
    source: str = LIBRARY
    requested_at: datetime | None = None
    age: int = 0
    recorded_configuration: str = ""
    repeats: Mapping[Cell, Sequence[float | Failure]] = field(default_factory=dict)
    deterministic: bool = False
    about: About = field(default_factory=About)

    @property
    def row_key(self) -> RowKey:
        """The key of the row: submission, version and configuration."""
        return self.submission, self.version, self.recorded_configuration

    @property
    def sandboxed(self) -> bool:
        """Whether the calls were isolated; otherwise the submission never ranks."""
        return self.configuration is None or self.configuration.is_sandboxed

    def on(self, task: str, reference: Reference) -> TaskCalls:
        """Return the calls on one task, for scoring; a call without a record that counts is stale or missing."""
        stale = {model: Failure(STALE) for name, model in self.stale if name == task and model in reference.gaps}
        values = {model: value_of(row) for (name, model), row in self.rows.items() if name == task}
        return TaskCalls(reference.grid, reference.gaps, stale | values)


@dataclass(frozen=True)
class Collected:
    """The calls of a board.

    Attributes:
        shown: the calls behind its rows.
        left_out: calls of other versions of the same submissions, and calls of the same version with earlier versions
            of a library or the harness; without their records.
        ran_on: submission -> tasks on which left-out calls have records that would count. A task may be missing if
            every row of the submission has its own records there.
    """

    shown: Sequence[Calls]
    left_out: Sequence[Calls] = ()
    ran_on: Mapping[str, Collection[str]] = field(default_factory=dict)


def value_of(row: CallRecord) -> float | Failure:
    """Return a call's value, or the failure."""
    if row.outcome == Outcome.OK and row.value is not None:
        return float(row.value)
    return Failure(row.outcome, exceeded=row.outcome == Outcome.TIMEOUT)


def repeats_of(rows: Iterable["Record"]) -> dict[Cell, list[float | Failure]]:
    """Return the values of the repetitions among some records, in the order of their numbers.

    If a repetition has several records, the last counts.
    """
    found = {(row.task, row.model, row.repeat): value_of(row) for row in rows if row.repeat}
    repeats: dict[Cell, list[float | Failure]] = {}
    for task, model, repeat in sorted(found):
        repeats.setdefault((task, model), []).append(found[task, model, repeat])
    return repeats
