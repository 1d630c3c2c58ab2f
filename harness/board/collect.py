"""The recorded calls from which a row of a board is made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Protocol

from harness.about import About
from harness.configuration import Configuration
from harness.format.reference import Reference
from harness.names import FUNCTION, LIBRARY
from harness.outcome import Outcome
from scoring import Failure, TaskCalls

if TYPE_CHECKING:
    from harness.records import Record  # not at runtime: the verification of a site needs no database

STALE = "stale"  #: outcome of a call that was recorded only with an earlier version of the task's model or data
Cell = tuple[str, str]  #: task, model

#: The key of a row of a board: name of the submission, its version, ID of the configuration.
RowKey = tuple[str, str, str]


class CallRecord(Protocol):
    """The columns of a call's record that boards read (docs/records.md)."""

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
    """The recorded calls of one version of a submission in one configuration."""

    submission: str
    is_baseline: bool
    rows: Mapping[Cell, CallRecord]  #: task and model -> record; only records of the task's present models and data
    stale: frozenset[Cell] = frozenset()  #: models whose only records are of an earlier version of the task
    version: str = ""  #: SHA-256 of the submission's files
    configuration: Configuration | None = None
    source: str = LIBRARY  #: path of the files in the most recent request; `library` for a measure of the library
    requested_at: datetime | None = None  #: time of the most recent request
    age: int = 0  #: number of rows that were requested more recently
    recorded_configuration: str = ""  #: ID of the configuration in records and requests
    #: task and model -> results of repetitions (`--repeat`)
    repeats: Mapping[Cell, Sequence[float | Failure]] = field(default_factory=dict)
    deterministic: bool = False  #: whether the submission's metadata say that its value depends on no seed
    about: About = field(default_factory=About)  #: team, description and link in the submission's metadata

    @property
    def row_key(self) -> RowKey:
        """The key of these calls' row on a board: submission, version, configuration."""
        return self.submission, self.version, self.recorded_configuration

    @property
    def sandboxed(self) -> bool:
        """Whether a sandbox isolated the calls; otherwise the row gets no rank."""
        return self.configuration is None or self.configuration.is_sandboxed

    @property
    def is_function(self) -> bool:
        """Whether the submission is a Python function, which no `pgdl` command can call."""
        return self.source.startswith(FUNCTION)

    @property
    def is_in_repository(self) -> bool:
        """Whether `source` is a relative path. Only `pgdl ci` records such paths, which are within a git repository."""
        if self.is_baseline or self.is_function or self.source == self.submission:
            return False
        return not (PurePosixPath(self.source).is_absolute() or PureWindowsPath(self.source).is_absolute())

    def on(self, task: str, reference: Reference) -> TaskCalls:
        """Return the results on one task, for scoring. The result of a model in `stale` is the failure `STALE`."""
        stale = {model: Failure(STALE) for name, model in self.stale if name == task and model in reference.gaps}
        values = {model: value_of(row) for (name, model), row in self.rows.items() if name == task}
        return TaskCalls(reference.grid, reference.gaps, stale | values)


@dataclass(frozen=True)
class Collected:
    """The calls of all rows of a board, and the calls that the board leaves out."""

    shown: Sequence[Calls]  #: one element for each row of the board, sorted by `row_key`
    left_out: Sequence[Calls] = ()  #: calls without a row, such as those of earlier versions of a submission


def value_of(row: CallRecord) -> float | Failure:
    """Return the value of a call, or a `Failure` with its outcome."""
    if row.outcome == Outcome.OK and row.value is not None:
        return float(row.value)
    return Failure(row.outcome, exceeded=row.outcome == Outcome.TIMEOUT)


def repeats_of(rows: Iterable["Record"]) -> dict[Cell, list[float | Failure]]:
    """Return (task, model) -> the results of its repetitions (`--repeat`), sorted by number of the repetition.

    Other records in `rows` are ignored. If a repetition has several records, the last is taken.
    """
    found = {(row.task, row.model, row.repeat): value_of(row) for row in rows if row.repeat}
    repeats: dict[Cell, list[float | Failure]] = {}
    for task, model, repeat in sorted(found):
        repeats.setdefault((task, model), []).append(found[task, model, repeat])
    return repeats
