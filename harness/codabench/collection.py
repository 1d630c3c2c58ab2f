"""Collects results that the platform's machines computed, and checks them by making some calls again.

A participant could forge a result, or hand in the result of another participant. So records are collected only if they
belong to the participant's own files, and if randomly drawn calls return the same values here.
"""

import math
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from sqlalchemy.exc import StatementError

from harness.api.calls import Run, begin_run, open_records, record_calls
from harness.board.versions import by_age
from harness.codabench.competition import CodabenchCompetition, PlannedPhase, plan_phases, position_of
from harness.codabench.downloads import RESULTS
from harness.codabench.results import RECORDS
from harness.codabench.settings import PhaseSettings
from harness.credentials import Address
from harness.digest import digest_of
from harness.errors import UserError, UserErrors, writing
from harness.execution.plan import KEY_COLUMNS, call_key
from harness.format.archive import open_archive, read_member
from harness.outcome import Outcome
from harness.reading import read_text
from harness.records import EVALUATIONS, Evaluation, Records, Request
from harness.submission import Submission, find_submission
from pgdl import Execution, Progress

#: Maximum size of a database in bytes: of an empty database, and in addition for each call.
MAX_EMPTY, MAX_CALL = 1024**2, 128 * 1024

MAX_REFUSED = 64 * 1024**2  #: maximum size of a file with the differences of refused results, in bytes
UNPROVED = "Not run again by the organiser."  #: beginning of a submission's description if no calls were made again
FEWEST = 8  #: minimum number of calls of a submission that are made again
TOLERANCE = 1e-6  #: largest relative difference between values of the same call on different classes of machines


@dataclass(frozen=True)
class CollectedResults:
    """The numbers of collected submissions and calls of a phase."""

    phase: str  #: name of the phase
    submissions: int  #: number of submissions whose records are now in the database
    calls: int  #: number of calls that were added to the database
    proved: int  #: number of calls that were made again
    head: str | None = None  #: digest of all records of the site; None if no site was written


def choose_phase(competition: CodabenchCompetition, name: str | None, source: Path) -> PlannedPhase:
    """Return the phase `name`; None: the only phase. Raise `UserError` if the phase is hidden or does not exist."""
    phases = plan_phases(competition, source)
    chosen = phases[position_of(name, [one.phase.name for one in phases], source)]
    if chosen.phase.hidden:
        remedy = "`pgdl codabench submissions` downloads its submissions, and `pgdl run` evaluates them"
        raise UserError(f"phase {chosen.phase.name!r} is hidden: it has no results on the platform", remedy=remedy)
    return chosen


def collect(
    settings: PhaseSettings, tasks_dir: Path, directory: Path, names: Sequence[str], results: Address, share: float,
    progress: Progress,
) -> CollectedResults:  # fmt: skip
    """Check a phase's results of the submissions `names`, and add their records to the database `results`.

    `directory` holds the submissions NAME.zip, and their results results/NAME.zip. A `share` (0 to 1) of the calls of
    each submission is made again. Results that cannot be used, or that new calls do not confirm, are left out with a
    warning. Raise `UserError` if no result can be used, no call can be made here, or the database already has records
    of a result that is left out.
    """
    if not names:
        raise UserError("no submissions", file=directory, expected=f"NAME.zip and {RESULTS}/NAME.zip")
    notes, broken, owners, added, proved, collected = list[str](), list[str](), dict[str, str](), 0, 0, 0
    found = [_found(directory, name, owners, notes) for name in names]
    execution = Execution(settings.time_limit_s, memory_bytes=settings.memory_bytes)
    with (
        begin_run([], tasks_dir, list(settings.tasks), execution, progress) as run,
        open_records(run, results) as records,
    ):
        last = {(one.submission, one.task): one for one in by_age(records.requests())}
        for submission in filter(None, found):
            result, known = directory / RESULTS / f"{submission.name}.zip", set[str]()
            try:
                rows, requests = read_records(result, submission, settings, owners)
                ended = records.ended([row.key for row in rows])
                known = {one.key for one in ended if one.outcome != Outcome.INFRA_ERROR}
                progress.step(f"{submission.name}: some calls again")
                proved += _prove(rows, share, submission, run, progress, result.with_suffix(".refused"))
            except UserError as error:
                notes.append(f"{submission.name}: left out: {error}")
                if known and not isinstance(error, _MachineError):
                    broken.append(submission.name)
                continue
            new = [row for row in rows if row.key not in known]
            records.ask(_unasked(requests, last, is_proved=share > 0))  # first: the same command then adds the records
            records.add(*new)
            collected, added = collected + 1, added + len(new)
    if broken:
        raise UserErrors(*notes, f"{results}: has rows of {', '.join(broken)}; collect into another database")
    if not collected:
        raise UserErrors(*notes, "no result can be used")
    for line in notes:
        progress.warn(line)
    return CollectedResults(settings.name, collected, added, proved)


class _MachineError(UserError):
    """The machine failed at a call that was made again, which says nothing about the result."""


def _prove(
    rows: Sequence[Evaluation], share: float, submission: Submission, run: Run, progress: Progress, refused: Path
) -> int:
    """Make some calls again, and return their number. Raise `UserError` if a value differs from its record.

    The differences go into the file `refused`, with the digest of the records. While it exists, these records are
    refused without new calls; another result of the participant is not.
    """
    digest = digest_of(sorted((row.key, repr(row.value).encode()) for row in rows))
    if refused.exists() and digest in read_text(refused, MAX_REFUSED):
        raise UserError("was refused before", file=refused, remedy="remove this file to try again")
    drawn = draw(rows, share)
    again = made_again(drawn, submission, run, progress) if drawn else {}
    for one in again.values():
        if one.outcome == Outcome.INFRA_ERROR:
            raise _MachineError(f"the machine failed on {one.task}/{one.model}; run the same command again")
    if lines := differences(rows, drawn, again):
        with writing(refused), refused.open("a", encoding="utf-8") as stream:
            stream.write("".join(f"{line}\n" for line in (f"records {digest}", *lines)))
        raise UserError(f"{len(lines)} of {len(drawn)} calls that were made again do not confirm it", found=lines[0])
    return len(drawn)


def _found(directory: Path, name: str, owners: dict[str, str], notes: list[str]) -> Submission | None:
    try:
        submission = find_submission(str(directory / f"{name}.zip"), name)
        if submission.problem is not None:
            raise UserError(submission.problem)
    except UserError as error:
        notes.append(f"{name}: left out: {error}")
        return None
    owners.setdefault(submission.digest, name)
    return submission


def read_records(
    result: Path, submission: Submission, settings: PhaseSettings, owners: Mapping[str, str]
) -> tuple[list[Evaluation], list[Request]]:
    """Return the records and requests in the file `result`, which may be forged; give them the submission's name.

    Raise `UserError` unless all records belong to the submission's files. `owners` maps digests of submissions to
    names, for messages.
    """
    try:
        with _records_in(result, settings.planned) as records:
            made = records.whole_of(only=[EVALUATIONS.c.outcome != Outcome.INFRA_ERROR])
            rows = list(islice(made, settings.planned + 1))
            settings.require_calls(rows, RECORDS)
            for digest in {row.submission_digest for row in rows} - {submission.digest}:
                whose = f"the files of {owners[digest]}" if digest in owners else "unknown files"
                raise UserError("its records are not of its own files", found=whose)
            if not rows:
                raise UserError("no calls were made")
            evaluations = [_renamed(row, submission.name) for row in rows]
            asked = [
                request for request in records.requests()
                if request.submission == rows[0].submission and request.task in settings.tasks
            ]  # fmt: skip
            if not {row.task for row in rows} <= {request.task for request in asked}:  # time may end before a task
                raise UserError("not every task has a request")
            now, metadata = datetime.now(UTC), submission.metadata
            return evaluations, [
                replace(
                    request, submission=submission.name, source=submission.source, requested_at=now, merged_at=None,
                    deterministic=metadata.deterministic, **asdict(metadata.about),
                ) for request in asked
            ]  # fmt: skip
    except (ValueError, TypeError, StatementError) as error:
        raise UserError(f"not records: {' '.join(str(error).split())[:200]}", file=result) from error


def _unasked(
    requests: Sequence[Request], last: Mapping[tuple[str, str], Request], *, is_proved: bool
) -> Sequence[Request]:
    """Return the requests to write; [] if they are already the submission's last (`last`: name and task -> request).

    They are needed even if no record is new: the participant may have returned to an earlier version.
    """
    unproved = [replace(one, description=f"{UNPROVED} {one.description}".strip()) for one in requests]

    def is_last(one: Request) -> bool:
        old = last.get((one.submission, one.task))
        return old is not None and replace(old, requested_at=one.requested_at) == one

    if all(map(is_last, requests)) or (not is_proved and all(map(is_last, unproved))):
        return []
    return requests if is_proved else unproved


@contextmanager
def _records_in(result: Path, calls: int) -> Iterator[Records]:
    """Yield the unpacked database of a result; raise `UserError` if it is larger than `calls` calls need."""
    with tempfile.TemporaryDirectory() as temporary, open_archive(result) as archive:
        file = Path(temporary, RECORDS)
        with writing(file):
            file.write_bytes(read_member(archive, RECORDS, MAX_EMPTY + calls * MAX_CALL))
        try:
            with Records(file, read_only=True) as records:
                yield records
        except UserError as error:
            raise UserError(str(error).replace(f"{temporary}/", "")) from error


def _renamed(row: Evaluation, name: str) -> Evaluation:
    """Return the record with `name` as its submission, and with the key of a call of this submission."""
    renamed = replace(row, submission=name)
    return replace(renamed, key=call_key(*(getattr(renamed, column) for column in KEY_COLUMNS)))


def draw(rows: Sequence[Evaluation], share: float) -> Sequence[Evaluation]:
    """Return a random share of the calls with a value, at least `FEWEST` calls; [] if `share` is 0."""
    right = [row for row in rows if row.outcome == Outcome.OK]
    number = max(FEWEST, math.ceil(share * len(right))) if share else 0
    return secrets.SystemRandom().sample(right, min(number, len(right)))


def made_again(
    drawn: Sequence[Evaluation], submission: Submission, run: Run, progress: Progress
) -> dict[tuple[str, str], Evaluation]:
    """Make the calls `drawn` again, on the tasks of a run; return (task, model) -> new record."""
    wanted = {(row.task, row.model) for row in drawn}
    tasks = [
        replace(task, models=tuple(model for model in task.models if (task.name, model.id) in wanted))
        for task in run.tasks
    ]
    with tempfile.TemporaryDirectory() as temporary, Records(Path(temporary, "again.db")) as records:
        again = replace(run, submissions=[submission], tasks=[task for task in tasks if task.models])
        record_calls(again, records, progress)
        return {(row.task, row.model): row for row in records.whole_of()}


def differences(
    rows: Sequence[Evaluation], drawn: Sequence[Evaluation], again: Mapping[tuple[str, str], Evaluation]
) -> list[str]:
    """Return a line for each drawn call that `again` does not confirm; `again` is (task, model) -> new record.

    On a machine of the same class, the new value must equal the recorded value. On another machine, the new value may
    differ by `TOLERANCE`, but must keep the order with all other values on the task. Without this second condition,
    any order of the values of a nearly constant measure would be confirmed.
    """
    return [line for row in drawn if (line := _difference(rows, row, again))]


def _difference(rows: Sequence[Evaluation], row: Evaluation, again: Mapping[tuple[str, str], Evaluation]) -> str:
    here = again.get((row.task, row.model))
    where = f"{row.task}/{row.model}: {row.value} on the platform,"
    if here is None or here.value is None or row.value is None:
        return f"{where} {'nothing' if here is None else here.outcome} here"
    if row.value == here.value:
        return ""
    classes = {one.environment.get("machine_class") for one in (row, here)}
    if len(classes) == 1 or not math.isclose(row.value, here.value, rel_tol=TOLERANCE):
        return f"{where} {here.value} here"
    for other in rows:
        if other.task != row.task or other.value is None or other.value == row.value:
            continue
        values = {one.value for one in (other, again.get((other.task, other.model))) if one and one.value is not None}
        if any((row.value > other.value) != (here.value > value) or here.value == value for value in values):
            return f"{where} {here.value} here, in another order than recorded with {other.model}"
    return ""
