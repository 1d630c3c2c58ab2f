"""The calls behind a row of a board: a submission's version and configuration, and the records that count."""

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
    from harness.records import Record  # not at runtime: the verification of a site needs no database

#: The outcome of a call whose record was made with an earlier version of the task's model or data.
STALE = "stale"

#: Task and model.
Cell = tuple[str, str]

#: Name and version of a submission and the ID of a configuration, which together identify a row of a board.
RowKey = tuple[str, str, str]


class CallRecord(Protocol):
    """The columns that boards read in the record of a call, from a database or a site (docs/records.md)."""

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
    """The calls of one version of a submission in one configuration, with at most one record per task and model."""

    submission: str
    is_baseline: bool
    rows: Mapping[Cell, CallRecord]  #: the records that count: those of the task's present models and data
    stale: frozenset[Cell] = frozenset()  #: models whose only record is of an earlier version of the task
    version: str = ""  #: SHA-256 of the submission's files
    configuration: Configuration | None = None
    source: str = LIBRARY  #: path of the files in the most recent request; `library` for a measure of the library
    requested_at: datetime | None = None  #: time of the most recent request
    age: int = 0  #: number of rows requested later, by the order of the requests, since clocks differ
    recorded_configuration: str = ""  #: ID of the configuration in records and requests
    repeats: Mapping[Cell, Sequence[float | Failure]] = field(default_factory=dict)  #: results of repeated calls
    deterministic: bool = False  #: whether the submission's metadata say that its value depends on no seed
    about: About = field(default_factory=About)  #: team, description and link in its metadata

    @property
    def row_key(self) -> RowKey:
        """The key that identifies the row of these calls on a board."""
        return self.submission, self.version, self.recorded_configuration

    @property
    def sandboxed(self) -> bool:
        """Whether a sandbox isolated the calls; otherwise the submission never ranks."""
        return self.configuration is None or self.configuration.is_sandboxed

    def on(self, task: str, reference: Reference) -> TaskCalls:
        """Return the results on one task, for scoring. A model without a record in `rows` is stale or has no result."""
        stale = {model: Failure(STALE) for name, model in self.stale if name == task and model in reference.gaps}
        values = {model: value_of(row) for (name, model), row in self.rows.items() if name == task}
        return TaskCalls(reference.grid, reference.gaps, stale | values)


@dataclass(frozen=True)
class Collected:
    """The calls behind a board, and the calls that the board leaves out."""

    shown: Sequence[Calls]  #: in the order of their row keys
    left_out: Sequence[Calls] = ()  #: of replaced versions of submissions, libraries or the harness; `rows` is empty
    #: submission -> tasks that the left-out calls ran on, in their present version, and that a shown row did not run on
    ran_on: Mapping[str, Collection[str]] = field(default_factory=dict)


def value_of(row: CallRecord) -> float | Failure:
    """Return the value of a call, or a `Failure` with its outcome."""
    if row.outcome == Outcome.OK and row.value is not None:
        return float(row.value)
    return Failure(row.outcome, exceeded=row.outcome == Outcome.TIMEOUT)


def repeats_of(rows: Iterable["Record"]) -> dict[Cell, list[float | Failure]]:
    """Return task and model -> results of repetitions (`--repeat`), in the order of their numbers.

    Other records are ignored. If a repetition has several records, the last record in `rows` counts.
    """
    found = {(row.task, row.model, row.repeat): value_of(row) for row in rows if row.repeat}
    repeats: dict[Cell, list[float | Failure]] = {}
    for task, model, repeat in sorted(found):
        repeats.setdefault((task, model), []).append(found[task, model, repeat])
    return repeats
