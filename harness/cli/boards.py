"""The tasks and records of a board, for the commands that score recorded calls."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from harness.board.collect import Calls, Collected, collect
from harness.board.standings import held_out_sets
from harness.errors import UserError
from harness.format.reference import Reference, read_reference
from harness.hints import did_you_mean
from harness.outcome import Outcome
from harness.records import Evaluation, Records
from harness.submission import Submission, find_named, find_submission
from harness.task.contents import Contents, read_contents
from harness.task.hidden import Withhold
from harness.task.layout import TaskFiles, find_all, find_references, hidden_names
from harness.task.notes import named, notes_of_contents, notes_of_reference
from scoring import HeldOut


@dataclass(frozen=True)
class Competition:
    """The tasks of a board: reference data and contents, and those of them that are withheld."""

    references: Mapping[str, Reference]
    contents: Mapping[str, Contents]  #: only of tasks with models
    withheld: frozenset[str]  #: names of the tasks whose scores are published rounded

    @property
    def n_test(self) -> dict[str, int | None]:
        """Number of test samples of each task with models; None if there are no test shards."""
        return {name: contents.n_test for name, contents in self.contents.items()}

    @property
    def held_out(self) -> dict[str, HeldOut] | None:
        """The test sets on which gaps were measured; None if that of some task is not known."""
        return held_out_sets(self.references, self.n_test)

    def notes(self, *, of_records: bool) -> list[str]:
        """Return notes on the tasks for readers of scores, one per line; notes `of_records` cover the models, too.

        None on withheld tasks: they name models, gaps and hyperparameters.
        """
        lines = []
        for name, reference in self.references.items():
            if name in self.withheld:
                continue
            on_models = notes_of_contents(reference, self.contents.get(name)) if of_records else []
            lines += [f"{name}: {line}" for line in (*notes_of_reference(reference), *on_models)]
        return lines


def read_competition(
    root: Path, withhold: Withhold, names: Sequence[str] = (), reference: Path | None = None
) -> Competition:
    """Read the reference data of all tasks under `root`, or of `names`, and digest their models; raises `UserError`.

    `reference` is the directory of the reference data if it is not `root`; marks of hidden tasks count in both.
    """
    paths = dict(sorted(find_references(reference or root, names).items()))
    roots = [root] if reference is None else [reference, *([root] if root.is_dir() else [])]
    files = [task for directory in roots for task in find_all(directory) if task.name in paths]
    withheld = frozenset(name for name in paths if withhold.covers(name in hidden_names(files)))
    references: dict[str, Reference] = {}
    contents: dict[str, Contents] = {}
    for name, path in paths.items():
        with Withhold.ALWAYS.reading(_first(files, name)) if name in withheld else nullcontext():
            references[name] = read_reference(path)
            contents |= {task.name: read_contents(task) for task in files if _has_models(task, name)}
    return Competition(references, contents, withheld)


def _first(files: Sequence[TaskFiles], name: str) -> TaskFiles:
    return next(task for task in files if task.name == name)


def _has_models(task: TaskFiles, name: str) -> bool:
    return task.name == name and not task.reference_only


def collect_records(records: Records, competition: Competition, *, everything: bool = False) -> Collected:
    """Return the calls that count on the competition's tasks."""
    rows = records.newest_of(Evaluation.task.in_(list(competition.references)))
    references, contents = competition.references, competition.contents
    return collect(rows, references, records.requests(), contents, everything=everything)


def failed_outputs(records: Records, collected: Collected) -> dict[str, str]:
    """Return the end of the output of every call without a value, by its key."""
    rows = [row for calls in collected.shown for row in calls.rows.values()]
    return records.output_tails([row.key for row in rows if row.outcome != Outcome.OK])


def choose(collected: Collected, arguments: Sequence[str], where: str) -> Collected:
    """Return the calls of the submissions that the arguments name: files in their current version, or recorded names.

    Raises `UserError` for files that have not been run in their current version, and for unknown names.
    """
    known = sorted({calls.submission for calls in collected.shown})
    shown: list[Calls] = []
    for argument in arguments:
        if argument in known and not Path(argument).exists() and find_named(argument) is None:
            shown += [calls for calls in collected.shown if calls.submission == argument]
            continue
        try:
            submission = find_submission(argument)
        except UserError as error:
            hint = did_you_mean(argument, known) or f"recorded here: {', '.join(known) or 'nothing'}"
            raise UserError(f"no records of {argument!r}", file=where, remedy=hint) from error
        everyone = [*collected.shown, *collected.left_out]
        found = [calls for calls in everyone if calls.version == submission.digest and _is_of(calls, submission)]
        if not found:
            raise _has_not_run(submission, everyone, where)
        shown += [calls for calls in found if calls in collected.shown] or found[:1]
    return Collected(shown, [calls for calls in collected.left_out if calls not in shown])


def _is_of(calls: Calls, submission: Submission) -> bool:
    """Whether calls are of this submission: under its own name, or under one that --as gave to the same path.

    The same files may have been handed in by others, too, under their names.
    """
    return submission.name == calls.submission or submission.source == calls.source


def _has_not_run(submission: Submission, everyone: Sequence[Calls], where: str) -> UserError:
    """Return the error for a submission whose current version has no record on these tasks."""
    argument = submission.name if submission.is_baseline else submission.source
    versions = dict.fromkeys(calls.version[:8] for calls in everyone if calls.submission == submission.name)
    found = f"records of version {named(list(versions))}" if versions else "no record of it"
    expected = f"records of its present version ({submission.digest[:8]})"
    others = sorted({calls.submission for calls in everyone if calls.version == submission.digest})
    remedy = f"run `pgdl run {shlex.quote(argument)}` first"
    if others:
        remedy += f"; the same files are recorded as {named(others)}"
    return UserError(
        f"{submission.name!r} has not been run in its present version",
        file=where,
        expected=expected,
        found=found,
        remedy=remedy,
    )
