"""Selects the records of every submission that count, and separates those that do not."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from harness.about import About
from harness.board.requested import Asked, Requested, last_requests
from harness.configuration import WAYS, Configuration, configuration_from
from harness.format.reference import Reference
from harness.names import LIBRARY
from harness.outcome import Outcome
from harness.task.contents import Contents
from scoring import Failure, TaskCalls

#: Stands for the outcome of a call whose record is of another model or other data than the present ones.
STALE = "stale"

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
        recorded_configuration: the ID of the configuration, as records and requests have it.
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
    recorded_configuration: str = ""
    repeats: Mapping[Cell, Sequence[float | Failure]] = field(default_factory=dict)
    deterministic: bool = False
    about: About = field(default_factory=About)

    @property
    def asked(self) -> Asked:
        """What their records have in common."""
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
        left_out: calls of other versions of the same submissions, and of the same version before a library or the
            harness changed its version; without their records.
        ran_on: submission -> tasks on which calls that are left out have records that would count. Tasks on which every
            row of the submission has its own may be missing.
    """

    shown: Sequence[Calls]
    left_out: Sequence[Calls] = ()
    ran_on: Mapping[str, Collection[str]] = field(default_factory=dict)


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


def collect(
    evaluations: Iterable[Record],
    references: Mapping[str, Reference],
    requests: Sequence[Requested] = (),
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
    groups: dict[Asked, list[Record]] = {}
    for row in evaluations:
        if is_of(references, row):
            groups.setdefault((row.submission, row.submission_digest, row.configuration), []).append(row)
    first = {name: group[0] for name, group in groups.items()}
    everyone = versions_of(last_requests(requests, references), first)
    found = choose_shown(everyone, everything=everything)
    shown, left_out = (
        [with_records(calls, groups.get(calls.asked, ()), contents or {}) for calls in part]
        for part in (found.shown, found.left_out)
    )
    ran_on: dict[str, set[str]] = {}
    for calls in left_out:
        ran_on.setdefault(calls.submission, set()).update(task for task, _ in calls.rows)
    return replace(found, shown=shown, ran_on=ran_on)


def is_of(references: Mapping[str, Reference], row: Record) -> bool:
    """Whether a record is of a model of these tasks."""
    return row.task in references and row.model in references[row.task].gaps


def versions_of(asked: dict[Asked, Requested], first: Mapping[Asked, Record]) -> list[Calls]:
    """Return the calls of every version and configuration without their records, the most recently requested first.

    Args:
        asked: the last request of each, the oldest first.
        first: the first record of each that has any, in their order. Those without a request come after all others.
    """
    unasked = [name for name in first if name not in asked]
    newest_first = [*reversed(asked), *reversed(unasked)]
    return [
        _asked_calls(asked[name], age) if name in asked else _unasked_calls(first[name], age)
        for age, name in enumerate(newest_first)
    ]


def choose_shown(everyone: Sequence[Calls], *, everything: bool = False) -> Collected:
    """Return the calls that a board shows in the order of their names, and those that it does not.

    Of each submission that is the first version among `everyone`, and of its configurations the first with each
    combination of settings.
    """
    version: dict[str, str] = {}
    chosen: dict[tuple[str, Configuration | None], Calls] = {}
    for calls in everyone:
        if version.setdefault(calls.submission, calls.version) == calls.version:
            settings = calls.configuration.settings if calls.configuration else None
            chosen.setdefault((calls.submission, settings), calls)
    shown = list(everyone) if everything else list(chosen.values())
    names = {calls.asked for calls in shown}
    left_out = [calls for calls in everyone if calls.asked not in names]
    return Collected(sorted(shown, key=lambda calls: calls.asked), left_out)


def with_records(calls: Calls, records: Iterable[Record], contents: Mapping[str, Contents]) -> Calls:
    """Return the calls with their records, oldest first, of which only those of the tasks' present contents count."""
    rows: dict[Cell, Record] = {}
    repetitions, stale = [], set()
    for row in records:
        if not is_current(row, contents.get(row.task)):
            if not row.repeat:
                stale.add((row.task, row.model))
        elif row.repeat:
            repetitions.append(row)
        else:
            rows[row.task, row.model] = row
    return replace(calls, rows=rows, stale=frozenset(stale - rows.keys()), repeats=repeats_of(repetitions))


def configuration_of(record: Record) -> Configuration:
    """Return the configuration of a record, from its columns."""
    columns = {field.name: getattr(record, field.name) for field in fields(Configuration) if field.name != "isolation"}
    isolation, _, way = record.sandbox.rpartition("/")
    return Configuration(isolation=isolation if way in WAYS else record.sandbox, **columns)


def is_current(row: Record, contents: Contents | None) -> bool:
    """Whether a record is of the task's present model and data; without contents, it counts as such."""
    return contents is None or (contents.models.get(row.model) == row.model_digest and contents.data == row.data_digest)


def _asked_calls(request: Requested, age: int) -> Calls:
    return Calls(
        submission=request.submission,
        is_baseline=request.is_baseline,
        rows={},
        version=request.submission_digest,
        configuration=configuration_from(request.settings),
        source=request.source,
        requested_at=request.requested_at,
        age=age,
        recorded_configuration=request.configuration,
        deterministic=request.deterministic,
        about=About.from_texts(request.team, request.description, request.paper),
    )


def _unasked_calls(first: Record, age: int) -> Calls:
    return Calls(
        submission=first.submission,
        is_baseline=first.is_baseline,
        rows={},
        version=first.submission_digest,
        configuration=configuration_of(first),
        source=first.submission,
        age=age,
        recorded_configuration=first.configuration,
    )
