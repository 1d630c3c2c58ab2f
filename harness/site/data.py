"""The data of a site: records, reference data and settings, from which every page is made.

Withheld tasks are the exception: their records and reference data stay with the organiser, and the site has only the
rounded results.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeInt

from harness.board.collect import Calls
from harness.board.leaderboard import Leaderboard
from harness.board.row import Row
from harness.configuration import Configuration
from harness.format.reference import Reference
from scoring import Failure, HeldOut, TaskScore

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SiteRecord(_Model):
    """The columns of a record that a site needs (docs/records.md), and of a failed call the end of its output."""

    key: str
    submission: str
    submission_digest: str
    configuration: str
    task: str
    model: str
    model_digest: str
    data_digest: str
    outcome: str
    value: FiniteFloat | None
    message: str
    startup_wall_s: Seconds
    load_wall_s: Seconds
    call_wall_s: Seconds
    call_cpu_s: Seconds
    peak_memory_bytes: NonNegativeInt
    seed: int
    sandbox: str
    output: str = ""


class TaskFacts(_Model):
    """A task; `n_test` is the number of test samples, None if it is not known."""

    withheld: bool
    n_models: int
    n_test: int | None


class Repeated(_Model):
    """The repetitions of a call: their values, or outcomes of those without a value."""

    task: str
    model: str
    values: list[float | str]


class SubmissionFacts(_Model):
    """A row of the board without its records; `stale` has the tasks and models whose records do not count."""

    name: str
    is_baseline: bool
    version: str
    configuration: Configuration | None
    asked_at: datetime | None
    stale: list[tuple[str, str]]
    repeats: list[Repeated]
    deterministic: bool


class WithheldResults(_Model):
    """Rounded results of a row on withheld tasks, and reasons why later tasks were skipped because of them."""

    exceeded: bool
    tasks: dict[str, TaskScore | str]
    failures: dict[str, dict[str, int]]


class Settings(_Model):
    """All data of a site but records and reference data.

    Attributes:
        tasks: task -> facts, in the order of the board's columns.
        submissions: the rows of the board except the oracle.
        withheld: `row_key` -> results on withheld tasks, with the oracle's; empty if no task is withheld.
        remarks: those of the board.
    """

    tasks: dict[str, TaskFacts]
    submissions: list[SubmissionFacts]
    withheld: dict[str, WithheldResults]
    remarks: list[str]


@dataclass(frozen=True)
class SiteData:
    """Everything that a site is made from; `references` are those of the tasks that are not withheld."""

    settings: Settings
    references: Mapping[str, Reference]
    records: Sequence[SiteRecord]

    @property
    def held_out(self) -> dict[str, HeldOut] | None:
        """The test sets on which gaps were measured; None if that of some task is not known or withheld."""
        known = {}
        for name, facts in self.settings.tasks.items():
            if name not in self.references or facts.n_test is None:
                return None
            accuracy = self.references[name].test_accuracy
            known[name] = HeldOut([accuracy[model] for model in self.references[name].models], facts.n_test)
        return known

    def calls(self) -> list[Calls]:
        """Return the calls of each submission on the tasks that are not withheld."""
        rows: dict[str, dict[tuple[str, str], SiteRecord]] = {}
        for record in self.records:
            key = row_key(record.submission, record.submission_digest, record.configuration)
            rows.setdefault(key, {})[record.task, record.model] = record
        return [_calls(submission, rows) for submission in self.settings.submissions]


def find_stray(data: SiteData) -> SiteRecord | None:
    """Return the first record that belongs to no row, task or model of the site, or to a call that has one already."""
    rows = {
        row_key(facts.name, facts.version, facts.configuration.id if facts.configuration else "")
        for facts in data.settings.submissions
    }
    models = {name: set(reference.models) for name, reference in data.references.items()}
    seen = set()
    for record in data.records:
        row = row_key(record.submission, record.submission_digest, record.configuration)
        call = row, record.task, record.model
        if row not in rows or record.model not in models.get(record.task, ()) or call in seen:
            return record
        seen.add(call)
    return None


def row_key(submission: str, version: str, configuration: str) -> str:
    """Return the key of a row from its name, version and configuration; the oracle has only a name."""
    return " ".join((submission, version, configuration))


def key_of(row: Row) -> str:
    """Return the key of a row."""
    return row_key(row.submission, row.version, row.configuration.id if row.configuration else "")


def gather(
    shown: Sequence[Calls],
    board: Leaderboard,
    references: Mapping[str, Reference],
    n_test: Mapping[str, int | None],
    outputs: Mapping[str, str],
) -> SiteData:
    """Return the data behind a board: `shown` are the calls behind its rows.

    `n_test` is the number of test samples of each task, `outputs` the end of the output of failed calls by their keys.
    """
    withheld = {name for row in board.rows for name in row.rounded}
    settings = Settings(
        tasks={
            name: TaskFacts(withheld=name in withheld, n_models=len(reference.models), n_test=n_test.get(name))
            for name, reference in references.items()
        },
        submissions=[_facts(calls, withheld) for calls in shown],
        withheld={key_of(row): _withheld(row) for row in board.rows} if withheld else {},
        remarks=list(board.remarks),
    )
    public = {name: reference for name, reference in references.items() if name not in withheld}
    return SiteData(settings, public, [record for calls in shown for record in _records(calls, public, outputs)])


def _records(calls: Calls, tasks: Collection[str], outputs: Mapping[str, str]) -> list[SiteRecord]:
    columns = [name for name in SiteRecord.model_fields if name != "output"]
    return [
        SiteRecord(**{name: getattr(row, name) for name in columns}, output=outputs.get(row.key, ""))
        for (task, _), row in sorted(calls.rows.items(), key=lambda item: item[0])
        if task in tasks
    ]


def _facts(calls: Calls, withheld: Collection[str]) -> SubmissionFacts:
    stale = [
        (task, f"hidden {n}" if task in withheld else model) for n, (task, model) in enumerate(sorted(calls.stale))
    ]
    return SubmissionFacts(
        name=calls.submission,
        is_baseline=calls.is_baseline,
        version=calls.version,
        configuration=calls.configuration,
        asked_at=calls.asked_at,
        stale=stale,
        repeats=[
            Repeated(task=task, model=model, values=[v.outcome if isinstance(v, Failure) else v for v in values])
            for (task, model), values in sorted(calls.repeats.items())
            if task not in withheld
        ],
        deterministic=calls.deterministic,
    )


def _calls(facts: SubmissionFacts, rows: Mapping[str, Mapping[tuple[str, str], Any]]) -> Calls:
    configuration = facts.configuration
    key = row_key(facts.name, facts.version, configuration.id if configuration else "")
    return Calls(
        submission=facts.name,
        is_baseline=facts.is_baseline,
        rows=rows.get(key, {}),
        stale=frozenset(facts.stale),
        repeats={(r.task, r.model): [Failure(v) if isinstance(v, str) else v for v in r.values] for r in facts.repeats},
        deterministic=facts.deterministic,
        version=facts.version,
        configuration=configuration,
        asked_at=facts.asked_at,
    )


def _withheld(row: Row) -> WithheldResults:
    exceeded = row.result.exceeded
    shown = {
        name: result
        for name, result in row.result.tasks.items()
        if row.tasks[name].withheld or (exceeded and isinstance(result, str))
    }
    failures = {name: dict(task.failures) for name, task in row.tasks.items() if task.withheld}
    return WithheldResults(exceeded=exceeded, tasks=shown, failures=failures)
