"""Selects the records of every submission that count, and separates those that do not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from harness.about import About
from harness.board.requested import Asked, last_requests
from harness.configuration import Configuration, configuration_from
from harness.format.reference import Reference
from harness.names import LIBRARY
from harness.outcome import Outcome
from harness.task.contents import Contents
from scoring import Failure, TaskCalls

if TYPE_CHECKING:  # importing SQLAlchemy takes longer than computing a score
    from harness.records import Request

#: Task and model.
Cell = tuple[str, str]

#: A row of the table `evaluations` (harness/records/evaluation.py), with or without its long columns.
Record = Any


@dataclass(frozen=True)
class Calls:
    """The records of one version of a submission, made in one configuration: at most one per task and model.

    Attributes:
        rows: the records that count: they are of the task's present models and data.
        stale: tasks and models whose records are of other models or data than the present ones.
        version: digest of the submission's files.
        source: path of these files in the most recent request; `library` for a measure of the library.
        requested_at: time of the most recent request.
        age: number of rows that were asked for later; times do not tell, since clocks differ.
        repeats: task and model -> the values of its repetitions, in their order; they never count in a score.
        deterministic: whether the submission says that its value depends on no seed.
        about: what the submission says of itself.
    """

    submission: str
    is_baseline: bool
    rows: Mapping[Cell, Record]
    stale: frozenset[Cell] = frozenset()
    version: str = ""
    configuration: Configuration | None = None
    source: str = LIBRARY
    requested_at: datetime | None = None
    age: int = 0
    repeats: Mapping[Cell, Sequence[float | Failure]] = field(default_factory=dict)
    deterministic: bool = False
    about: About = field(default_factory=About)

    @property
    def sandboxed(self) -> bool:
        """Whether the calls were isolated; otherwise the submission never ranks."""
        return self.configuration is None or self.configuration.is_sandboxed

    def on(self, task: str, reference: Reference) -> TaskCalls:
        """Return the calls on one task, for scoring; a call without a record is missing."""
        values = {model: value_of(row) for (name, model), row in self.rows.items() if name == task}
        return TaskCalls(reference.grid, reference.gaps, values)


@dataclass(frozen=True)
class Collected:
    """The calls of a board.

    Attributes:
        shown: the calls behind its rows.
        left_out: calls of other versions of the same submissions, and of the same version before a library or the
            harness changed its version.
    """

    shown: Sequence[Calls]
    left_out: Sequence[Calls] = ()


def value_of(row: Record) -> float | Failure:
    """Return a call's value, or the failure."""
    if row.outcome == Outcome.OK and row.value is not None:
        return float(row.value)
    return Failure(row.outcome, exceeded=row.outcome == Outcome.TIMEOUT)


def repeats_of(rows: Iterable[Record]) -> dict[Cell, list[float | Failure]]:
    """Return the values of the repetitions among some records, in the order of their numbers.

    Of several records of a repetition, the last counts.
    """
    found = {(row.task, row.model, row.repeat): value_of(row) for row in rows if row.repeat}
    repeats: dict[Cell, list[float | Failure]] = {}
    for task, model, repeat in sorted(found):
        repeats.setdefault((task, model), []).append(found[task, model, repeat])
    return repeats


@dataclass
class _Group:
    """The records of one version and configuration while they are read."""

    is_baseline: bool
    configuration: Configuration
    rows: dict[Cell, Record] = field(default_factory=dict)
    repetitions: list[Record] = field(default_factory=list)
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

    Only the most recently requested version of a submission on these tasks is shown, and, of configurations that differ
    only in versions of libraries and the harness, the most recently requested one. Other configurations have their own
    rows.

    Args:
        evaluations: records, oldest first; of several with the same key only the newest.
        references: task -> reference data.
        requests: the requests, in the order of their rows. What was requested has a row even without any record: a run
            may have been interrupted before its first one.
        contents: task -> its present contents; without them, all records of the task count.
        everything: show all versions and configurations.
    """
    asked = last_requests(requests, references)
    groups: dict[Asked, _Group] = {}
    for row in evaluations:
        if row.task in references and row.model in references[row.task].gaps:
            name = row.submission, row.submission_digest, row.configuration
            if name not in groups:
                groups[name] = _Group(row.is_baseline, configuration_of(row))
            group, cell = groups[name], (row.task, row.model)
            is_current = _is_current(row, (contents or {}).get(row.task))
            if row.repeat:
                group.repetitions += [row] * is_current
            elif is_current:
                group.rows[cell] = row
            else:
                group.stale.add(cell)
    for name, request in asked.items():
        if name not in groups:
            groups[name] = _Group(request.is_baseline, configuration_from(request.settings))
    unasked = [name for name in groups if name not in asked]
    newest_first = [*reversed(asked), *reversed(unasked)]
    everyone = {name: _calls(name, groups[name], asked.get(name), age) for age, name in enumerate(newest_first)}
    shown = list(everyone) if everything else _newest(everyone)
    alphabetical = sorted(shown)
    return Collected(
        [everyone[name] for name in alphabetical], [everyone[name] for name in everyone if name not in shown]
    )


def configuration_of(record: Record) -> Configuration:
    """Return the configuration of a record, from its columns."""
    from harness.sandbox import isolation_of  # here: who verifies a site has no records, and needs no sandbox

    columns = {field.name: getattr(record, field.name) for field in fields(Configuration) if field.name != "isolation"}
    return Configuration(isolation=isolation_of(record.sandbox), **columns)


def _is_current(row: Record, contents: Contents | None) -> bool:
    """Whether a record is of the task's present model and data."""
    return contents is None or (contents.models.get(row.model) == row.model_digest and contents.data == row.data_digest)


def _calls(name: Asked, group: _Group, request: "Request | None", age: int) -> Calls:
    submission, version, _ = name
    return Calls(
        submission=submission,
        is_baseline=group.is_baseline,
        rows=group.rows,
        stale=frozenset(group.stale - group.rows.keys()),
        version=version,
        configuration=group.configuration,
        source=request.source if request else submission,
        requested_at=request.requested_at if request else None,
        age=age,
        repeats=repeats_of(group.repetitions),
        deterministic=request.deterministic if request else False,
        about=About.from_texts(request.team, request.description, request.paper) if request else About(),
    )


def _newest(everyone: Mapping[Asked, Calls]) -> set[Asked]:
    """Choose each submission's first version, and of its configurations the first with each combination of settings."""
    version: dict[str, str] = {}
    chosen: dict[tuple[str, Configuration | None], Asked] = {}
    for name, calls in everyone.items():
        if version.setdefault(calls.submission, calls.version) == calls.version:
            settings = calls.configuration.settings if calls.configuration else None
            chosen.setdefault((calls.submission, settings), name)
    return set(chosen.values())
