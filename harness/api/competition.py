"""Reads the tasks and records of a board, and finds the recorded submissions that a user names."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness.api.commands import run_command
from harness.api.needs import failed_for_initial_weights
from harness.board import remarks, repetitions
from harness.board.board import Board
from harness.board.collect import Calls, Collected
from harness.board.disclosure import notes_on_marks
from harness.board.leaderboard import build_board
from harness.board.rankings import held_out_sets
from harness.board.versions import find_versions, read_records
from harness.credentials import Address
from harness.errors import UserError
from harness.format.reference import Reference, read_reference
from harness.hints import did_you_mean
from harness.outcome import Outcome
from harness.records import Records, has_unwritten
from harness.records.versions import has_several_builds, machine_classes
from harness.shell import typed
from harness.submission import Submission, find_named, find_submission
from harness.task.contents import Contents, read_known, read_like_known
from harness.task.hidden import Withhold
from harness.task.layout import TaskDirectory, hidden_names, is_absent_default
from harness.task.task_notes import (
    abbreviated,
    notes_of_contents,
    notes_of_reference,
    notes_of_resolution,
    notes_of_shared_models,
)
from scoring import HeldOut, has_official_score

#: Problem and remedy if there are no records: a note on the board, or the error of a command that needs records.
NO_RECORDS, FIRST = "no records of these tasks", "run `pgdl run SUBMISSION` first"

#: A submission that a user names, or several.
Submissions = str | Path | Sequence[str | Path]

#: A function: calls of some rows of a board -> command line that makes the missing calls.
Command = Callable[[Sequence[Calls]], str]


@dataclass(frozen=True)
class Competition:
    """The tasks of a board. Names of tasks are the keys of every mapping."""

    root: Path  #: directory of the tasks
    references: Mapping[str, Reference]
    contents: Mapping[str, Contents]  #: digests of models and data; tasks with unknown digests are left out
    withheld: frozenset[str]  #: names of the tasks whose results are withheld, and whose scores are rounded
    withhold: Withhold
    can_run: bool  #: whether at least one task has models here; boards of other people's records need no models

    @property
    def n_test(self) -> dict[str, int | None]:
        """Task -> number of its test samples; None if its test data are missing."""
        return {name: contents.n_test for name, contents in self.contents.items()}

    @property
    def held_out(self) -> dict[str, HeldOut] | None:
        """Task -> number of test samples, and test accuracies of the models; None if any task lacks test data."""
        return held_out_sets(self.references, self.n_test)

    def notes(self, shown: Sequence[Calls] | None) -> list[str]:
        """Return notes on the tasks for readers of scores; with the calls `shown` on a board, also notes on the models.

        Hidden tasks have no notes, because notes name models, gaps and hyperparameters.
        """
        lines = []
        for name, reference in self.references.items():
            if name in self.withheld:
                continue
            lines += [f"{name}: {line}" for line in notes_of_reference(reference)]
            if shown is not None:
                contents = self.contents.get(name)
                lacked = contents is not None and _lacked_initial_weights(shown, name, contents)
                lines += [f"{name}: {one}" for one in notes_of_contents(reference, contents, initial_weights=lacked)]
        scored = [name for name, one in self.references.items() if has_official_score(one.grid)]
        public = [name for name in scored if name in self.contents and name not in self.withheld]
        lines += notes_of_shared_models({name: self.contents[name] for name in public})
        if shown is not None:
            lines += notes_on_marks(shown, self.withheld, self.withhold)
        if shown is not None and not self.can_run:
            lines += _notes_on_versions(shown)
        return lines

    def board(self, collected: Collected, notes: Sequence[str] = (), command: Command = lambda _: "pgdl run") -> Board:
        """Return the board of the collected calls. `command` returns the command line that repeats outdated calls."""
        return build_board(collected, self.references, self.withheld, notes, self.held_out, command)

    def command(self, results: Address | Path | str) -> Command:
        """Return a function that takes calls of rows, and returns the command line for those missing in `results`."""
        return partial(run_command, tasks=self.root, results=Address.of(results, "results"))

    def resolution(self) -> list[str]:
        """Return notes on the smallest p-value and smallest difference of scores that each public task can show."""
        public = {name: reference for name, reference in self.references.items() if name not in self.withheld}
        return [f"{name}: {line}" for name, reference in public.items() for line in notes_of_resolution(reference)]


def _notes_on_versions(shown: Sequence[Calls]) -> list[str]:
    others = [one.submission for one in shown if one.is_baseline and _is_of_another_library(one)]
    return [f"recorded with another version of the library than this one: {abbreviated(others)}"] if others else []


def _is_of_another_library(calls: Calls) -> bool:
    try:
        here = find_named(calls.submission)
    except UserError:  # this library's measure of that name lacks a recorded parameter
        return True
    return here is not None and here.digest != calls.version


def read_competition(
    root: Path, withhold: Withhold, names: Sequence[str] = (), reference: TaskDirectory | None = None
) -> Competition:
    """Read the tasks `names` (empty: all) in the directory `root`: their reference data, and digests of their models.

    `reference` has the reference data if they are not in `root`. A task is hidden if one of the two
    directories marks it as hidden. Raise `UserError` if a task does not exist, or if its reference data or models
    cannot be read.
    """
    directories = [reference or TaskDirectory(root)]
    paths = dict(sorted(directories[0].references(names).items()))
    if reference is not None and not is_absent_default(root):
        directories.append(TaskDirectory(root))
    files = [task for directory in directories for task in directory.present(paths)]
    withheld = frozenset(name for name in paths if withhold.covers(name in hidden_names(files)))
    references: dict[str, Reference] = {}
    contents: dict[str, Contents] = {}
    for name, path in paths.items():
        here = [task for task in files if task.name == name]
        with Withhold.ALWAYS.reading(here[0]) if name in withheld else nullcontext():
            references[name] = read_reference(path)
            present = [task for task in here if not task.reference_only]
            if known := read_like_known(path.parent, present[-1]) if present else read_known(path.parent):
                contents[name] = known
    can_run = not all(task.reference_only for task in files)
    return Competition(root, references, contents, withheld, withhold, can_run)


def _lacked_initial_weights(shown: Sequence[Calls], task: str, contents: Contents) -> bool:
    rows = (calls.rows.get((task, model)) for calls in shown for model in contents.without_initial_weights)
    return any(row is not None and failed_for_initial_weights(row.outcome, row.message) for row in rows)


def collect_records(
    records: Records, competition: Competition, submissions: Submissions = (), *, everything: bool = False
) -> Collected:
    """Return the recorded calls of the submissions that a user names (see `choose`), without outdated records."""
    found = find_versions(records, competition.references, everything=everything)
    found = choose(found, submissions, records.name, can_run=competition.can_run)
    return read_current(records, competition, found)


def read_current(records: Records, competition: Competition, found: Collected) -> Collected:
    """Return the calls `found`, with their records filled in.

    If the files of a task's models and data are missing, outdated records cannot be recognized. Raise `UserError` if
    the records of such a task are of different files.
    """
    for task in competition.references.keys() - competition.contents.keys():
        if has_several_builds(records, task):
            raise UserError(
                f"{task}: records of other models or data of the same names", file=records.name, expected="one task",
                found="several", remedy="name the models' directory with --tasks, or other records with --results",
            )  # fmt: skip
    return read_records(records, found, competition.references, competition.contents)


def remarks_on(
    records: Records, competition: Competition, collected: Collected, results: Address | Path | str
) -> list[str]:
    """Return remarks on the tasks and on the shown calls, for readers of the scores."""
    return [
        *competition.notes(collected.shown),
        *notes_on_records(records, collected.shown),
        *remarks.remarks_on_records(collected, competition.command(results)),
        *repetitions.remarks_on(collected.shown, competition.withheld),
    ]


def failed_outputs(records: Records, shown: Sequence[Calls]) -> dict[str, str]:
    """Return the end of each failed call's output: key of the call -> text."""
    rows = [row for calls in shown for row in calls.rows.values()]
    return records.output_tails([row.key for row in rows if row.outcome != Outcome.OK])


def notes_on_records(records: Records, shown: Sequence[Calls]) -> list[str]:
    """Return notes on records that a run could not write into the database, and on calls from different machines."""
    lines = []
    if has_unwritten(records):
        lines.append("the database lacks records that an earlier run kept aside; the next pgdl run adds them")
    classes = machine_classes(records, [row.key for calls in shown for row in calls.rows.values()])
    if len(classes) > 1:
        differ = "calls were made on different machines, so values may differ in their last digits"
        lines.append(f"{differ}: {'; '.join(classes)}")
    return lines


def choose(collected: Collected, submissions: Submissions, where: str, *, can_run: bool) -> Collected:
    """Return the calls of the submissions that a user names; all calls if `submissions` is empty.

    A path, or the name of a measure, selects the current version; any other name selects a recorded submission. If no
    models are here (`can_run` is False), a recorded name always selects the recorded submission. `where` is the name of
    the database. Raise `UserError` for an unknown name, files that are no submission, or a version that was never run.
    """
    if not submissions:
        return collected
    known = sorted({calls.submission for calls in collected.shown})
    shown: list[Calls] = []
    for argument in map(str, [submissions] if isinstance(submissions, str | Path) else submissions):
        is_name = not can_run or (not Path(argument).exists() and find_named(argument) is None)
        if argument in known and is_name:
            shown += [calls for calls in collected.shown if calls.submission == argument]
            continue
        try:
            submission = find_submission(argument)
        except UserError as error:
            if os.path.lexists(Path(argument)):  # the error says why the file is no submission
                raise
            hint = did_you_mean(argument, known) or f"recorded here: {', '.join(known) or 'nothing'}"
            raise UserError(f"no records of {argument!r}", file=where, remedy=hint) from error
        everyone = [*collected.shown, *collected.left_out]
        found = [calls for calls in everyone if calls.version == submission.digest and _is_of(calls, submission)]
        if not found:
            raise _has_not_run(submission, everyone, where)
        shown += [calls for calls in found if calls in collected.shown] or found[:1]
    rows = {calls.row_key: calls for calls in shown}  # once each, also if several arguments select a row
    left_out = [one for one in collected.left_out if one.row_key not in rows]
    return replace(collected, shown=list(rows.values()), left_out=left_out)


def require_records(collected: Collected, where: str) -> None:
    """Raise `UserError` if there are no records; its message names the database, `where`."""
    if not collected.shown:
        raise UserError(NO_RECORDS, file=where, remedy=FIRST)


def _is_of(calls: Calls, submission: Submission) -> bool:
    return submission.name == calls.submission or submission.source == calls.source


def _has_not_run(submission: Submission, everyone: Sequence[Calls], where: str) -> UserError:
    argument = submission.name if submission.is_baseline else submission.source
    versions = dict.fromkeys(calls.version[:8] for calls in everyone if calls.submission == submission.name)
    found = f"records of version {abbreviated(list(versions))}" if versions else "no record of it"
    others = sorted({calls.submission for calls in everyone if calls.version == submission.digest})
    same = f"; the same files are recorded as {abbreviated(others)}" if others else ""
    return UserError(
        f"{submission.name!r} has not been run in its present version", file=where, found=found,
        expected=f"records of its present version ({submission.digest[:8]})",
        remedy=f"run `pgdl run {typed(argument)}` first{same}",
    )  # fmt: skip
