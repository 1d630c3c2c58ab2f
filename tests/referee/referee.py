"""A second, independent statement of which records count, and of boards and reports of `pgdl ci`.

It was written only from docs/records.md, docs/submissions.md, docs/hidden-tasks.md and docs/leaderboard-job.md, and
shares no code with `harness/board`. It reads no files and knows no digests or keys: tests tell it what people did, and
describe versions, contents of models and configurations in any form that can be compared. The numbers of a score come
from `scoring`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

from scoring import Grid, ScoreUndefined, official_score

#: Names that nobody may use, and groups of names that could be mistaken for each other.
RESERVED = {"Num-Params", "noisyoracle", "VC-dim"}
ALIKE = ({"sharp", "Sharp", "sha-rp", "sharp."}, {"flat", "f1at", "FLAT_"}, {"wide"})

#: Hyperparameters of every task; each has two values.
N_AXES = 3

#: The outcome that says nothing of a submission: such a call is made again.
MACHINE = "INFRA_ERROR"


class Choice(NamedTuple):
    """Settings that a user chooses; different settings make different rows."""

    seed: int = 0
    limit: float = 300.0
    isolation: str = "bubblewrap"


class Software(NamedTuple):
    """Versions of software, which may change without the user's doing; the most recently requested versions count."""

    libraries: str = "1"
    loader: str = "1"


class Version(NamedTuple):
    """A submission as it was handed in."""

    name: str
    files: str
    is_baseline: bool = False


@dataclass(frozen=True)
class Call:
    """Everything that distinguishes two calls."""

    version: Version
    task: str
    model: str
    content: str  #: of the model's files
    data: str
    choice: Choice
    software: Software


@dataclass(frozen=True)
class Record:
    call: Call
    outcome: str
    value: float | None = None


@dataclass(frozen=True)
class Request:
    """A request for a submission on one task. Times are sortable texts; `order` decides between equal times."""

    version: Version
    source: str
    task: str
    choice: Choice
    software: Software
    time: str
    order: tuple[str, str]  #: what identifies version and configuration in a database
    merged: str | None = None


@dataclass
class Task:
    """The current state of a task; `cells` are the models of its reference data, with their hyperparameters."""

    cells: dict[str, tuple[int, ...]]
    gaps: dict[str, float]
    contents: dict[str, str]  #: of the models that are there
    data: str
    hidden: bool = False
    valid: bool = True  #: whether it can be run

    @property
    def is_full(self) -> bool:
        """Whether every combination of values has a model; otherwise, no submission has an official score."""
        return sorted(self.cells.values()) == sorted(product((0, 1), repeat=N_AXES))

    def official(self, values: Mapping[str, float]) -> float | None:
        """Return the official score, from 0 to 1, or None if it is not defined."""
        models = sorted(self.cells)
        names = [f"axis {number}" for number in range(N_AXES)]
        cells = {model: dict(zip(names, self.cells[model], strict=True)) for model in models}
        grid = Grid.from_hyperparameters(dict.fromkeys(names, (0, 1)), cells)
        try:
            found = official_score([values[m] for m in models], [self.gaps[m] for m in models], grid)
        except ScoreUndefined:
            return None
        return found.score


Tasks = Mapping[str, Task]


@dataclass
class Row:
    """The row that a board must show; `on` is task -> score from 0 to 1 or None, and `score` is from 0 to 100."""

    version: Version
    choice: Choice
    on: dict[str, float | None]
    score: float | None
    complete: bool
    n_ok: int
    n_models: int
    n_stale: int
    n_missing: int
    age: int
    results: frozenset[tuple[str, str, str, float | None]]  #: task, model, outcome and value of what is recorded
    rank: int | None = None


@dataclass
class Refusal(Exception):
    """A run must be refused."""

    reason: str


@dataclass
class Database:
    """Requests and records, in the order of writing."""

    requests: list[Request] = field(default_factory=list)
    records: dict[Call, Record] = field(default_factory=dict)  #: the newest of each call, in the order of writing

    def by_age(self) -> list[Request]:
        """Return all requests, oldest first; those of other databases come before all own requests."""
        merged = [one for one in self.requests if one.merged is not None]
        merged.sort(key=lambda one: (min(one.time, str(one.merged)), *one.order))
        return [*merged, *(one for one in self.requests if one.merged is None)]

    def names(self) -> dict[str, list[Request]]:
        """Return name -> its requests, oldest first."""
        found: dict[str, list[Request]] = {}
        for one in self.by_age():
            found.setdefault(one.version.name, []).append(one)
        return found

    def is_known(self, version: Version, source: str) -> bool:
        """Return whether the path `source` has been handed in under the version's name."""
        return source in {one.source for one in self.names().get(version.name, [])}

    def settle(self, version: Version, source: str, *, given: bool) -> str:
        """Return the path under which a submission is known; raise `Refusal` for a name that it must not have.

        A submission may have the name of another only if this name is `given` by the user.
        """
        if version.is_baseline:
            return source
        if version.name in RESERVED:
            raise Refusal("reserved")
        known = self.names()
        before = known.get(version.name, [])
        if not before:
            if any(alike(version.name, name) for name in known):
                raise Refusal("could be mistaken")
            return source
        sources = {one.source for one in before}
        if before[-1].version.files == version.files:
            return source if source in sources else before[-1].source
        if source in sources or given:
            return source
        raise Refusal("another submission")

    def missing(self, calls: Iterable[Call]) -> set[Call]:
        """Return the calls that a run must make: without a record, or whose record is a failure of the machine."""
        return {call for call in calls if call not in self.records or self.records[call].outcome == MACHINE}

    def add(self, record: Record) -> None:
        """Write a record; it replaces an earlier record of the same call."""
        self.records.pop(record.call, None)
        self.records[record.call] = record

    def merge(self, other: "Database", now: str) -> None:
        """Add the requests and records of another database; `now` is the time of the merge."""
        for call, record in other.records.items():
            if record.outcome != MACHINE and (call not in self.records or self.records[call].outcome == MACHINE):
                self.add(record)
        known = {replace(one, merged=None) for one in _told_apart(self.requests)}
        new = (replace(one, merged=None) for one in _told_apart(other.requests))
        self.requests += [replace(one, merged=now) for one in new if one not in known]

    # Rows of a board

    def rows(self, tasks: Tasks, wanted: Mapping[str, str] | None = None, choice: Choice | None = None) -> list[Row]:
        """Return the rows of a board, without ranks: the last requested version of each submission.

        For a CI job, return the rows with its settings (`choice`) and with the files of a revision (`wanted`).
        """
        last: dict[tuple[Version, Choice, Software], Request] = {}
        for one in self.by_age():
            if one.task in tasks and _is_wanted(one.version, one.choice, wanted, choice):
                key = one.version, one.choice, one.software
                last.pop(key, None)
                last[key] = one
        shown: dict[str, Version] = {}
        for version, _, _ in reversed(last):
            shown.setdefault(version.name, version)
        begun = {(one.version, one.choice, one.software) for one in self.records if one.task in tasks}
        chosen: dict[tuple[Version, Choice], Software] = {}
        for key in reversed(last):
            version, chosen_by_user, software = key
            has_records = any(one in begun for one in last if one[0] == version)
            if shown[version.name] == version and (key in begun or not has_records):
                chosen.setdefault((version, chosen_by_user), software)
        ages = {key: age for age, key in enumerate(reversed(last))}
        return [
            self._row(version, user, software, tasks, ages[version, user, software])
            for (version, user), software in chosen.items()
        ]

    def _row(self, version: Version, choice: Choice, software: Software, tasks: Tasks, age: int) -> Row:
        on: dict[str, float | None] = {}
        complete, exceeded, n_ok, n_stale, n_missing = True, False, 0, 0, 0
        results: set[tuple[str, str, str, float | None]] = set()
        for name in sorted(tasks):
            task = tasks[name]
            found = {model: self._record(version, name, model, choice, software, task) for model in task.cells}
            n_stale += sum(one is Stale for one in found.values())
            outcomes = {model: one for model, one in found.items() if isinstance(one, Record)}
            n_missing += len(found) - len(outcomes)
            results |= {(name, model, one.outcome, one.value) for model, one in outcomes.items()}
            values = {
                model: one.value for model, one in outcomes.items() if one.outcome == "OK" and one.value is not None
            }
            n_ok += len(values)
            exceeded |= task.is_full and any(one.outcome == "TIMEOUT" for one in outcomes.values())
            has_score = not exceeded and len(values) == len(found)
            complete &= has_score or not task.is_full
            score = task.official(values) if has_score else None
            on[name] = None if score is None else round(score, 3) if task.hidden else score
        scores = [score for score in on.values() if score is not None]
        total = 0.0 if exceeded else 100 * sum(scores) / len(scores) if scores else None
        if total is not None and any(task.hidden for task in tasks.values()):
            total = round(total, 1)
        n_models = sum(len(task.cells) for task in tasks.values())
        return Row(
            version, choice, on, total, complete, n_ok, n_models, n_stale, n_missing, age,
            frozenset(results),
        )  # fmt: skip

    def _record(
        self, version: Version, task: str, model: str, choice: Choice, software: Software, present: Task
    ) -> "Record | type[Stale] | None":
        """Return the record on the current model and data, `Stale` if only other models or data have one, or None."""
        call = Call(version, task, model, present.contents.get(model, ""), present.data, choice, software)
        if call in self.records:
            return self.records[call]
        about = (version, task, model, choice, software)
        others = ((one.version, one.task, one.model, one.choice, one.software) for one in self.records)
        return Stale if about in others else None

    def board(self, tasks: Tasks, wanted: Mapping[str, str] | None = None, choice: Choice | None = None) -> list[Row]:
        """Return the rows of a board, best first.

        Complete rows come first, then incomplete rows, then rows without a score; equal rows share a rank. Rows without
        a sandbox have no rank. If no task has an official score, no row has a rank.
        """
        rows = self.rows(tasks, wanted, choice)
        can_rank = any(task.is_full for task in tasks.values())
        ranked = [row for row in rows if can_rank and row.choice.isolation != "none"]
        for row in ranked:
            row.rank = 1 + sum(_standing(other) < _standing(row) for other in ranked)
        return sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.version.name))


class Stale:
    """Takes the place of a record if all records of a call are of other models or data."""


def _told_apart(requests: Sequence[Request]) -> Iterator[Request]:
    """Yield all requests from other databases. Of this database's requests that differ only in time, yield the last."""
    own = {(one.version, one.task, one.choice, one.software, one.source): one for one in requests if one.merged is None}
    for one in requests:
        if one.merged is not None or one in own.values():
            yield one


def _is_wanted(version: Version, of: Choice, wanted: Mapping[str, str] | None, choice: Choice | None) -> bool:
    if wanted is None:
        return True
    return of == choice and (version.is_baseline or wanted.get(version.name) == version.files)


def _standing(row: Row) -> tuple[bool, bool, float]:
    """Return a sort key, smaller for better rows. Without a score, completeness does not matter."""
    return (True, True, 0.0) if row.score is None else (False, not row.complete, -row.score)


def alike(one: str, other: str) -> bool:
    """Return whether two different names could be mistaken for each other."""
    return one != other and any({one, other} <= group for group in ALIKE)


def mistakable(names: Collection[str]) -> list[set[str]]:
    """Return the groups among names that could be mistaken for each other."""
    return [found for group in ALIKE if len(found := group & set(names)) > 1]


def equal(database: Database, tasks: Tasks) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """Return groups of names with the same files, and groups with the same results on all models.

    A group with the same results has at least four different values, a submission that is no measure of the library,
    and names with different files.
    """
    rows = database.rows(tasks)
    by_files: dict[str, set[str]] = {}
    by_results: dict[frozenset[tuple[str, str, str, float | None]], set[str]] = {}
    for row in rows:
        if not row.version.is_baseline:
            by_files.setdefault(row.version.files, set()).add(row.version.name)
        if len({value for *_, value in row.results} - {None}) >= 4:
            by_results.setdefault(row.results, set()).add(row.version.name)
    files = [names for names in by_files.values() if len(names) > 1]
    submissions = {row.version.name for row in rows if not row.version.is_baseline}
    results = [
        names for names in by_results.values()
        if len(names) > 1 and names & submissions and not any(names <= group for group in files)
    ]  # fmt: skip
    return {tuple(sorted(names)) for names in files}, {tuple(sorted(names)) for names in results}


# Reports of `pgdl ci`


class Line(NamedTuple):
    """A line of a report: a submission that a change touches."""

    name: str
    change: str
    rank_before: int | None
    score_before: float | None
    rank: int | None
    score: float | None
    n_ok: int
    earlier: str = ""  #: the name of a renamed submission at the base


@dataclass
class Report:
    """A report's lines, and the submissions with missing records.

    If records of a submission that the change does not touch are missing, no submission has a rank. If records of a
    changed or removed submission are missing at the base, no submission has a rank at the base.
    """

    lines: list[Line]
    missing: list[str]
    unknown: list[str]


def report(
    database: Database, tasks: Tasks, base: Mapping[str, str], head: Mapping[str, str], choice: Choice
) -> Report:
    """Return a job's report on a change from `base` to `head` (name -> files), after the calls of the job."""
    before, after = (_newest(database.board(tasks, files, choice)) for files in (base, head))
    touched = [name for name in sorted(head) if base.get(name) != head[name]]
    gone = [name for name in sorted(base) if name not in head]
    renamed = _renamed({name: head[name] for name in touched if name not in base}, {name: base[name] for name in gone})
    removed = [name for name in gone if name not in renamed.values()]
    untouched = [name for name in sorted(head) if name not in touched]
    missing = [name for name in untouched if name not in after or after[name].n_missing] if touched or removed else []
    replaced = [name for name in sorted(base) if name not in untouched]
    unknown = [name for name in replaced if name not in before or before[name].n_missing]
    lines = []
    for name in (*touched, *removed):
        old, new = before.get(renamed.get(name, name)), after.get(name)
        change = "removed" if name in removed else "changed" if name in base else "new"
        change = "renamed" if name in renamed else change
        rank_before = None if unknown else old and old.rank
        ranks = (None, None) if missing else (rank_before, new and new.rank)
        scores, n_ok = (old and old.score, new and new.score), new.n_ok if new else 0
        lines.append(Line(name, change, ranks[0], scores[0], ranks[1], scores[1], n_ok, renamed.get(name, "")))
    return Report(lines, missing, unknown)


def _renamed(new: Mapping[str, str], gone: Mapping[str, str]) -> dict[str, str]:
    """Return new name -> earlier name of renamed submissions, which have the same files."""
    earlier: dict[str, str] = {}
    for name, files in new.items():
        alike = [one for one in gone if gone[one] == files and one not in earlier.values()]
        if alike:
            earlier[name] = alike[0]
    return earlier


def _newest(rows: Sequence[Row]) -> dict[str, Row]:
    """Return name -> its most recently requested row."""
    return {row.version.name: row for row in sorted(rows, key=lambda row: -row.age)}
