"""Finds the recorded submissions that a user names."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.board.collect import Calls, Collected
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.shell import typed
from harness.submission import Submission, find_named, find_submission
from harness.task.notes import named


def choose(collected: Collected, submissions: Sequence[str] | str, where: str, *, can_run: bool) -> Collected:
    """Return the calls of submissions: of files in their current version, or by recorded names; all if none is given.

    Names of measures mean their current version, too, unless there are no models here to run it on (`can_run`).

    Raises `UserError` for files that are no submissions or have not been run in their current version, and for unknown
    names.
    """
    arguments = [submissions] if isinstance(submissions, str) else submissions
    if not arguments:
        return collected
    known = sorted({calls.submission for calls in collected.shown})
    shown: list[Calls] = []
    for argument in arguments:
        is_name = not can_run or (not Path(argument).exists() and find_named(argument) is None)
        if argument in known and is_name:
            shown += [calls for calls in collected.shown if calls.submission == argument]
            continue
        try:
            submission = find_submission(argument)
        except UserError as error:
            if os.path.lexists(Path(argument)):  # it is no submission, and says why
                raise
            hint = did_you_mean(argument, known) or f"recorded here: {', '.join(known) or 'nothing'}"
            raise UserError(f"no records of {argument!r}", file=where, remedy=hint) from error
        everyone = [*collected.shown, *collected.left_out]
        found = [calls for calls in everyone if calls.version == submission.digest and _is_of(calls, submission)]
        if not found:
            raise _has_not_run(submission, everyone, where)
        shown += [calls for calls in found if calls in collected.shown] or found[:1]
    names = {calls.asked for calls in shown}
    return replace(collected, shown=shown, left_out=[one for one in collected.left_out if one.asked not in names])


def require_records(collected: Collected, where: str) -> None:
    """Raise `UserError` if there are none."""
    if not collected.shown:
        raise UserError("no records of these tasks", file=where, remedy="run `pgdl run SUBMISSION` first")


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
    remedy = f"run `pgdl run {typed(argument)}` first"
    if others:
        remedy += f"; the same files are recorded as {named(others)}"
    return UserError(
        f"{submission.name!r} has not been run in its present version",
        file=where,
        expected=expected,
        found=found,
        remedy=remedy,
    )
