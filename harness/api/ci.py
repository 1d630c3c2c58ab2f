"""The function `pgdl.evaluate_change`: runs the submissions that a change of a git repository touches."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from harness.api.alike import shown_once
from harness.api.calls import begin_run, record_calls, require_unseen_records
from harness.api.ci_calls import check_submission, find_failures, records_of, without_reference
from harness.api.competition import Competition, failed_outputs, read_competition
from harness.api.execution import Execution
from harness.api.progress import SILENT, Progress
from harness.api.summarized import ShownAsBoard
from harness.board.board import Board
from harness.board.disclosure import DECIMALS
from harness.ci.annotations import annotation
from harness.ci.boards import collect_versions, read_versions
from harness.ci.change import Change, find_change, require_folder
from harness.ci.comment import render
from harness.ci.git import GitEntry, GitError, Repository
from harness.ci.reading import Touched, read_touched
from harness.ci.report import MAX_OTHERS, ChangeReport, Same
from harness.ci.results import AGAIN, lines_of, missing_in, moved_by, notes_on, same_as, without_ranks
from harness.ci.rules import Rules
from harness.configuration import Configuration
from harness.credentials import Address
from harness.errors import UserError
from harness.execution.plan import PlannedCall
from harness.records import Records, add_records
from harness.site import SiteData, gather
from harness.submission import Submission, find_named
from harness.task.hidden import Withhold
from harness.task.task_notes import abbreviated
from harness.worker.runtimes import DEFAULT


@dataclass(frozen=True)
class ChangeJob:
    """The arguments of `evaluate_change`. An `execution` without a sandbox raises `UserError`."""

    repository: Path  #: git repository with both commits; its working tree is not read
    folder: str  #: folder of the submissions in the repository
    head: str  #: commit with the change
    base: str | None  #: commit into which the change will be merged; None: evaluate every submission
    measures: Sequence[str]  #: names of measures of the library, which are run as well
    tasks_dir: Path  #: directory of the tasks
    task_names: Sequence[str]  #: names of tasks; empty: all tasks
    results: Address  #: database of the records
    added: Sequence[Address]  #: databases of other jobs, whose records are first copied into `results`
    rules: Rules  #: rules that the change has to keep
    execution: Execution  #: limits, sandbox and executor of the calls

    def __post_init__(self) -> None:
        if self.execution.unsafe_no_sandbox:
            raise UserError("a change is only evaluated in a sandbox")

    def covers(self, configuration: Configuration, runtime: str | None) -> bool:
        """Return whether a record with this configuration counts on the boards of this job.

        A record counts if its call was made in a sandbox, with the job's seed, limits and runtime. If the job names no
        runtime, the record must have `runtime`, the submission's own (None: the default runtime).
        """
        asked = self.execution
        wanted = {
            "run_seed": asked.seed, "time_limit_s": asked.time_limit_s, "time_budget": asked.time_budget,
            "memory_limit_bytes": asked.memory_bytes, "runtime": asked.runtime or runtime or DEFAULT,
        }  # fmt: skip
        same = all(value is None or getattr(configuration, name) == value for name, value in wanted.items())
        return same and configuration.is_sandboxed


class _Boards(NamedTuple):
    before: Board
    after: Board
    site: SiteData  #: site of `after`
    missing: list[str]  #: untouched submissions that lack records of their present version
    unknown: list[str]  #: submissions that the change overwrites, and that lack records of their version at the base
    same: list[Same]  #: groups of submissions with the same files or values, each with a touched submission


@dataclass(frozen=True, repr=False)
class ChangeResult(ShownAsBoard):
    """The result of `evaluate_change`: a report, the board with the change, and annotations for GitHub."""

    report: ChangeReport
    board: Board
    site: SiteData  #: site of `board`
    annotations: Sequence[str] = ()  #: lines that GitHub shows as annotations of files

    @property
    def comment(self) -> str:
        """The report as a comment in Markdown."""
        return render(self.report)


def evaluate_change(job: ChangeJob, progress: Progress = SILENT) -> ChangeResult:
    """Evaluate the submissions that a change touches, and compare the boards before and after the change.

    Raises:
        UserError: a commit, a task or a measure does not exist, or no sandbox works here.
    """
    repository = Repository(job.repository)
    try:
        tasks = os.path.relpath(job.tasks_dir, job.repository)
        change = find_change(repository, require_folder(job.folder), job.head, job.base, tasks)
    except GitError as error:
        raise UserError(f"the change cannot be listed: {error}", file=job.repository) from error
    measures = _measures(job.measures)
    competition = read_competition(job.tasks_dir, Withhold(job.execution.withhold), job.task_names)
    touched = Touched() if job.rules.are_exceeded_by(change) else read_touched(repository, job.folder, change)
    with Records(job.results) as records:
        for file in job.added:
            progress.note(f"{add_records(records, file)} records added from {file}")
        calls = _call(job, touched, measures, records, progress) if touched.submissions or measures else ()
        made = records_of(calls, records)
        boards = _make_boards(job, repository, change, touched, competition, records)
        for submission in touched.submissions.values():
            touched.add(submission.name, find_failures(records, submission, made))
    unscored = without_reference(made, competition.references)
    lines = lines_of(change, job.folder, boards.before, boards.after, touched, unscored)
    missing, no_ranks = boards.missing if lines else [], list[str]()
    unknown = [] if missing else boards.unknown
    if unknown:
        lines = [replace(line, rank_before=None) for line in lines]
    if missing:
        lines = [without_ranks(line) for line in lines]
        lacking = f"records of {', '.join(missing)} are missing, with the settings of this job"
        no_ranks = [f"no rank: {lacking}; {AGAIN} makes them"]
    of_lines = [(line, text) for line in lines for text in job.rules.broken_by(line)]
    of_change = job.rules.broken_by_change(change)
    refused = [f"{path}: {reason}" for path, reason in change.refused.items()]
    report = ChangeReport(
        head=change.head,
        base=change.base or "",
        decimals=DECIMALS if boards.after.withheld else 2,
        lines=tuple(lines),
        moved=() if missing or unknown else tuple(moved_by(change, boards.before, boards.after)),
        others=change.others[:MAX_OTHERS],
        n_others=len(change.others),
        missing=tuple(missing),
        broken=(*refused, *of_change, *(text for _, text in of_lines), *no_ranks),
        notes=tuple(notes_on(change, job.folder, unknown)),
        same=tuple(boards.same),
        withheld=tuple(sorted(boards.after.withheld)),
    )
    annotations = [
        *touched.annotations,
        *(annotation("warning", text) for text in report.notes),
        *(annotation("error", text) for text in of_change),
        *(annotation("error", text, line.file) for line, text in of_lines if line.change != "refused"),
    ]
    return ChangeResult(report, boards.after, boards.site, annotations)


def _measures(names: Sequence[str]) -> list[Submission]:
    found = {name: find_named(name) for name in names}
    if unknown := [name for name, measure in found.items() if measure is None]:
        raise UserError(f"no measure {unknown[0]!r}", remedy="pgdl measures lists them")
    return [measure for measure in found.values() if measure is not None]


def _call(
    job: ChangeJob, touched: Touched, measures: Sequence[Submission], records: Records, progress: Progress
) -> Sequence[PlannedCall]:
    with begin_run([], job.tasks_dir, job.task_names, job.execution, progress) as run:
        require_unseen_records(run, job.results)
        for name, submission in list(touched.submissions.items()) if job.rules.require_check else ():
            if failed := check_submission(submission, run):
                touched.refuse(name, *failed)
        run = replace(run, submissions=[*touched.submissions.values(), *measures])
        return record_calls(run, records, progress)[0].calls


def _make_boards(
    job: ChangeJob, repository: Repository, change: Change, touched: Touched, competition: Competition, records: Records
) -> _Boards:
    """Return the boards before and after the change.

    Of the base commit, only submissions with records or requests are read.
    """
    seen = {*records.distinct("submission"), *(request.submission for request in records.requests())}
    known = {name: entry for name, entry in change.before.items() if name in seen}
    at_base = read_versions(repository, job.folder, known)
    untouched = change.untouched
    with_change = {name: version for name, version in at_base.items() if name in untouched} | touched.submissions
    (calls_before, _), (calls, alike) = (
        shown_once(collect_versions(records, versions, job.covers, competition.references, competition.contents))
        for versions in (at_base, with_change)
    )
    notes = [*competition.notes(calls.shown), *alike]
    if unseen := sorted(untouched - {one.submission for one in calls.shown}):
        notes.append(f"no record of the present version of {abbreviated(unseen)}; {AGAIN} makes them")
    board = competition.board(calls, notes, lambda _: AGAIN)
    site = gather(calls.shown, board, competition.references, competition.n_test, failed_outputs(records, calls.shown))
    before = competition.board(calls_before)
    missing = _missing(board, repository, job.folder, {name: change.after[name] for name in untouched})
    unknown = _missing(before, repository, job.folder, {name: change.before[name] for name in change.overwritten})
    return _Boards(before, board, site, missing, unknown, same_as(change.touched, calls.shown))


def _missing(board: Board, repository: Repository, folder: str, entries: Mapping[str, GitEntry]) -> list[str]:
    """Return the readable submissions among `entries` that lack recorded calls on the board."""
    return list(read_versions(repository, folder, {name: entries[name] for name in missing_in(board, entries)}))
