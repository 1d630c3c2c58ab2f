"""Submissions from paths, names of measures, and Python functions; and the owners of their names."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from harness.api.progress import Progress
from harness.board.versions import by_age
from harness.errors import UserError
from harness.names import alike
from harness.records import Records, Request
from harness.submission import Submission, find_submissions, from_function

#: A path, the name of a measure, or a Python function `complexity(model, dataset)`.
Argument = str | Path | Callable[..., Any]

#: Asks the user a question with the answers yes and no.
Confirm = Callable[[str], bool]


def find(given: Sequence[Argument] | Argument, names: Sequence[str], progress: Progress) -> list[Submission]:
    """Return the submissions; `names`, if not empty, are the names of all submissions except measures, in their order.

    Raises:
        UserError: there is no such submission, or two have the same name.
    """
    arguments = _arguments(given)
    functions = [one for one in arguments if callable(one)]
    if functions and len(functions) < len(arguments):
        raise UserError("submissions", expected="functions only, or paths and names only", found="both")
    if not functions:
        return find_submissions([str(one) for one in arguments], names, progress.note)
    if names and len(names) != len(functions):
        raise UserError("names", expected=f"one for each function ({len(functions)} in all)", found=len(names))
    found = [from_function(one, name, progress.note) for one, name in zip_longest(functions, names)]
    if len({alike(one.name) for one in found}) < len(found):
        raise UserError("two functions have one name", found=", ".join(one.name for one in found))
    return found


def _arguments(given: Sequence[Argument] | Argument) -> list[Argument]:
    """Return the arguments of a function that takes one or several; raises `UserError` for anything else."""
    several = [given] if isinstance(given, str | Path) or callable(given) else given
    is_list = isinstance(several, Iterable) and not isinstance(several, bytes)
    arguments = list(several) if is_list else []
    if not arguments or not all(isinstance(one, str | Path) or callable(one) for one in arguments):
        raise UserError("submissions", expected="paths, names of measures, or functions", found=repr(given))
    return arguments


def decline(_question: str) -> bool:
    """Answer no, for a user who cannot be asked."""
    return False


def settle_names(
    submissions: Sequence[Submission], records: Records, *, given: bool, confirm: Confirm = decline
) -> tuple[list[Submission], list[str]]:
    """Refuse names that belong to another submission in the records, and names that could be mistaken for one there.

    The last requested files are the same submission wherever they lie, and stay known under their first path. Other
    files, be they new or an earlier version, are a version of a known name if their path is known, if the name was
    `given` to them, or if the user confirms it.

    Returns:
        The submissions, and a line about each submission whose version the board did not show before.

    Raises:
        UserError: a name belongs to another submission, or is written almost like another one.
    """
    known: dict[str, list[Request]] = {}
    for request in by_age(records.requests()):
        known.setdefault(request.submission, []).append(request)
    similar = {alike(name): name for name in known}
    settled, notes = [], []
    for submission in submissions:
        before = known.get(submission.name, [])
        if submission.is_baseline:
            settled.append(submission)
            continue
        if not before and (other := similar.get(alike(submission.name))):
            raise UserError(
                f"{submission.name!r} could be mistaken for {other!r}, which is recorded here",
                file=submission.source,
                remedy=f"name it with --as NAME (--as {other!r} makes it a version of that one)",
            )
        sources = {request.source for request in before}
        if before and submission.digest == before[-1].submission_digest:
            source = submission.source if submission.source in sources else before[-1].source
            settled.append(replace(submission, source=source))
            continue
        if before and submission.source not in sources and not given:
            _require_confirmed(submission, before[-1], confirm)
        if before:
            notes.append(_note(submission, before))
        settled.append(submission)
    return settled, notes


def _note(submission: Submission, before: Sequence[Request]) -> str:
    returns = submission.digest in {request.submission_digest for request in before}
    news = f"is asked for again after {before[-1].submission_digest[:8]}" if returns else "is new"
    return f"{submission.name}: version {submission.digest[:8]} {news}; the board shows it from now on"


def _require_confirmed(submission: Submission, last: Request, confirm: Confirm) -> None:
    question = f"{submission.name!r} was last run from {last.source}. Is {submission.source} a new version of it?"
    if not confirm(question):
        raise UserError(
            f"another submission is called {submission.name!r}: {last.source}",
            file=submission.source,
            remedy=f"name it with --as NAME (--as {submission.name!r} makes it a new version of that one)",
        )
