"""The data from which all pages of a site are computed: records, reference data and settings.

A site has no records or reference data of hidden tasks, only rounded results.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from harness.about import About
from harness.board.board import Board
from harness.board.collect import Calls
from harness.board.disclosure import rounded_task
from harness.board.rankings import held_out_sets
from harness.board.row import Row
from harness.configuration import Configuration, isolation_of
from harness.format.reference import Reference
from harness.outcome import LONGEST_TIME_S
from scoring import Failure, HeldOut, TaskScore, has_official_score

#: The default title of a site.
TITLE = "Leaderboard"

Seconds = Annotated[float, Field(ge=0, le=LONGEST_TIME_S)]

#: A count or seed, which NumPy stores in 64 bits.
Count = Annotated[int, Field(ge=0, lt=2**63)]
PositiveCount = Annotated[int, Field(ge=1, lt=2**63)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SiteRecord(_Model):
    """The columns of a call's record that a site publishes (docs/records.md)."""

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
    peak_memory_bytes: Count
    seed: Count
    sandbox: str
    output: str = ""  #: the end of the output of a failed call


class TaskFacts(_Model):
    """The facts about a task that a site publishes besides its reference data."""

    withheld: bool  #: whether the task is hidden
    n_models: Count
    n_test: PositiveCount | None  #: number of test samples; None if unknown, or if the task is hidden
    networks: str = ""  #: a line on the networks, for readers; may be empty


class Repeated(_Model):
    """The results of a call's repetitions (`--repeat`)."""

    task: str
    model: str
    values: list[FiniteFloat | str]  #: the value of each repetition, or the outcome of a failed repetition


class SubmissionFacts(_Model):
    """The facts about a row of the board that a site publishes besides its records and scores."""

    name: str
    is_baseline: bool
    version: str
    configuration: Configuration | None
    requested_at: datetime | None
    stale: list[tuple[str, str]]  #: (task, model) of each call that was recorded only with earlier models or data
    repeats: list[Repeated]
    deterministic: bool
    about: About


class WithheldResults(_Model):
    """The rounded results of a row on hidden tasks. A site has no records on these tasks."""

    exceeded: bool  #: whether a call on any task, hidden or public, exceeded its time
    #: hidden task -> rounded scores, or why it has none; if `exceeded`, also public task -> why it has no score
    tasks: dict[str, TaskScore | str]
    failures: dict[str, dict[str, int]]  #: hidden task -> outcome -> number of models without a value


class SiteSettings(_Model):
    """The data of a site besides records and reference data."""

    tasks: dict[str, TaskFacts]  #: name -> task, in the order of the board's columns
    submissions: list[SubmissionFacts]  #: the rows of the board, in any order
    withheld: dict[str, WithheldResults]  #: `row_key` -> results on hidden tasks; empty without a hidden task
    hidden_scored: list[str]  #: the hidden tasks that can have an official score
    remarks: list[str]  #: the remarks of `Board.published`
    title: str
    organiser: str  #: who runs the board; may be empty
    columns: list[str] = []  #: keys of the columns that `--columns` adds

    @property
    def hidden(self) -> list[str]:
        """The names of the hidden tasks."""
        return [name for name, facts in self.tasks.items() if facts.withheld]

    @model_validator(mode="after")
    def _withheld_results_are_those_of_withheld_tasks(self) -> Self:
        """In `withheld`, refuse unrounded results, and scores on public tasks, which a site computes from records."""
        expected = {_key_of_facts(facts) for facts in self.submissions}
        if self.withheld.keys() != (expected if self.hidden else set()):
            raise ValueError("withheld: expected the results of every row on the withheld tasks, and no other")
        for key, given in self.withheld.items():
            public = [result for name, result in given.tasks.items() if name not in self.hidden]
            if not (
                given.failures.keys() == set(self.hidden) <= given.tasks.keys() and set(given.tasks) <= set(self.tasks)
            ):
                raise ValueError(f"withheld results of {key}: expected those of {', '.join(self.hidden)}")
            if any(not isinstance(result, str) for result in public) or (public and not given.exceeded):
                raise ValueError(f"withheld results of {key}: expected none on public tasks")
            if not all(map(_may_be_published, given.tasks.values())):
                raise ValueError(f"withheld results of {key}: expected rounded scores from 0 to 1, and no other number")
        return self


@dataclass(frozen=True)
class SiteData:
    """All data from which a site is computed."""

    settings: SiteSettings
    references: Mapping[str, Reference]  #: public task -> reference data
    records: Sequence[SiteRecord]  #: of public tasks

    @property
    def held_out(self) -> dict[str, HeldOut] | None:
        """Task -> size of its test set and test accuracies; None if a task is hidden, or a test set is not known."""
        n_test = {name: facts.n_test for name, facts in self.settings.tasks.items()}
        return None if self.settings.hidden else held_out_sets(self.references, n_test)

    def with_columns(self, keys: Sequence[str]) -> Self:
        """Return the data of the same site with these additional columns."""
        return replace(self, settings=self.settings.model_copy(update={"columns": list(keys)}))

    def calls(self) -> list[Calls]:
        """Return the calls of each row on public tasks."""
        rows: dict[str, dict[tuple[str, str], SiteRecord]] = {}
        for record in self.records:
            key = row_key(record.submission, record.submission_digest, record.configuration)
            rows.setdefault(key, {})[record.task, record.model] = record
        return [_calls(submission, rows) for submission in self.settings.submissions]


def find_stray(data: SiteData) -> SiteRecord | None:
    """Return the first record whose row, task or model is unknown, or whose call has an earlier record; else None.

    A record belongs to a row only if its sandbox has the isolation that the row's configuration names.
    """
    shown = data.settings.submissions
    rows = {(_key_of_facts(facts), facts.configuration.isolation) for facts in shown if facts.configuration}
    models = {name: set(reference.models) for name, reference in data.references.items()}
    seen = set()
    for record in data.records:
        row = row_key(record.submission, record.submission_digest, record.configuration)
        call = row, record.task, record.model
        has_row = (row, isolation_of(record.sandbox)) in rows
        if not has_row or record.model not in models.get(record.task, ()) or call in seen:
            return record
        seen.add(call)
    return None


def _may_be_published(result: TaskScore | str) -> bool:
    if isinstance(result, str):
        return True
    return result == rounded_task(result) and (result.official is None or 0 <= result.official <= 1)


def _key_of_facts(facts: SubmissionFacts) -> str:
    return row_key(facts.name, facts.version, facts.configuration.id if facts.configuration else "")


def row_key(submission: str, version: str, configuration: str) -> str:
    """Return the key of a row in `SiteSettings.withheld`. `configuration` is the ID of the row's configuration."""
    return " ".join((submission, version, configuration))


def key_of(row: Row) -> str:
    """Return the `row_key` of a row."""
    return row_key(row.submission, row.version, row.configuration.id if row.configuration else "")


def gather(
    shown: Sequence[Calls],
    board: Board,
    references: Mapping[str, Reference],
    n_test: Mapping[str, int | None],
    outputs: Mapping[str, str],
    *,
    networks: Mapping[str, str] | None = None,
    title: str = TITLE,
    organiser: str = "",
) -> SiteData:
    """Return the data of the site of a board. `shown` holds the calls behind its rows.

    `n_test`: task -> number of test samples (None: unknown). `outputs`: key of a failed call -> end of its output.
    `networks`: task -> a line on its networks. `organiser`: the person or group that runs the board.
    """
    withheld = board.withheld
    settings = SiteSettings(
        tasks={
            name: TaskFacts(
                withheld=name in withheld,
                n_models=len(reference.models),
                n_test=None if name in withheld else n_test.get(name),
                networks="" if name in withheld else (networks or {}).get(name, ""),
            )
            for name, reference in references.items()
        },
        submissions=[_facts(calls, withheld) for calls in shown],
        withheld={key_of(row): _withheld(row) for row in board.rows} if withheld else {},
        hidden_scored=[name for name in references if name in withheld and has_official_score(references[name].grid)],
        remarks=list(board.published.remarks),
        title=title,
        organiser=organiser,
    )
    public = {name: reference for name, reference in references.items() if name not in withheld}
    return SiteData(settings, public, [record for calls in shown for record in records_of(calls, public, outputs)])


def records_of(calls: Calls, tasks: Collection[str], outputs: Mapping[str, str]) -> list[SiteRecord]:
    """Return the records of the calls on `tasks`, sorted by task and model. `outputs` is as for `gather`."""
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
        requested_at=calls.requested_at,
        stale=stale,
        repeats=[
            Repeated(task=task, model=model, values=[v.outcome if isinstance(v, Failure) else v for v in values])
            for (task, model), values in sorted(calls.repeats.items())
            if task not in withheld
        ],
        deterministic=calls.deterministic,
        about=calls.about,
    )


def _calls(facts: SubmissionFacts, rows: Mapping[str, Mapping[tuple[str, str], SiteRecord]]) -> Calls:
    return Calls(
        submission=facts.name,
        is_baseline=facts.is_baseline,
        rows=rows.get(_key_of_facts(facts), {}),
        stale=frozenset(facts.stale),
        repeats={(r.task, r.model): [Failure(v) if isinstance(v, str) else v for v in r.values] for r in facts.repeats},
        deterministic=facts.deterministic,
        about=facts.about,
        version=facts.version,
        configuration=facts.configuration,
        recorded_configuration=facts.configuration.id if facts.configuration else "",
        requested_at=facts.requested_at,
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
