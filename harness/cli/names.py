"""Ownership of names: a submission must not replace another one of the same name."""

import sys
from collections.abc import Sequence

import click

from harness.errors import UserError
from harness.records import Records, Request
from harness.submission import Submission


def settle_names(submissions: Sequence[Submission], records: Records, *, given: bool) -> list[str]:
    """Refuse names that belong to another submission in the records; returns a line about every new version.

    Changed files under a known name are a new version if their path is the same. Otherwise the user is asked at a
    terminal; without one, the name has to be `given` by --as. Raises `UserError`.
    """
    known: dict[str, list[Request]] = {}
    for request in records.requests():
        known.setdefault(request.submission, []).append(request)
    notes = []
    for submission in submissions:
        before = known.get(submission.name, [])
        if submission.is_baseline or not before:
            continue
        if submission.digest in {request.submission_digest for request in before}:
            continue
        if submission.source not in {request.source for request in before} and not given:
            _ask(submission, before[-1])
        notes.append(f"{submission.name}: version {submission.digest[:8]} is new; the board shows it from now on")
    return notes


def _ask(submission: Submission, last: Request) -> None:
    if sys.stdin.isatty() and sys.stderr.isatty():
        question = f"{submission.name!r} was last run from {last.source}. Is {submission.source} a new version of it?"
        if click.confirm(question, err=True):
            return
    raise UserError(
        f"another submission is called {submission.name!r}: {last.source}",
        file=submission.source,
        remedy=f"name it with --as NAME (--as {submission.name!r} makes it a new version of that one)",
    )
