"""Finds the submissions that a user hands in, and refuses names that belong to other submissions."""

import re
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

#: A call of `repeat` without a number, which makes a dataset of TensorFlow endless.
_REPEATED = re.compile(r"\.repeat\(\s*(?:(?:count\s*=\s*)?(?:None|-\s*1)\s*)?\)")

#: A function that asks a user a question, and returns True for yes, False for no.
Confirm = Callable[[str], bool]


def find(given: Sequence[Argument] | Argument, names: Sequence[str], progress: Progress) -> list[Submission]:
    """Return the submissions that a user hands in as paths, as names of measures, or as functions.

    `names` is empty, or names each submission that is not a measure, in order. Raise `UserError` if a submission does
    not exist, or if two submissions have the same name.
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
    several = [given] if isinstance(given, str | Path) or callable(given) else given
    is_list = isinstance(several, Iterable) and not isinstance(several, bytes)
    arguments = list(several) if is_list else []
    if not arguments or not all(isinstance(one, str | Path) or callable(one) for one in arguments):
        raise UserError("submissions", expected="paths, names of measures, or functions", found=repr(given))
    return arguments


def settle_names(
    submissions: Sequence[Submission], records: Records, *, given: bool, confirm: Confirm
) -> tuple[list[Submission], list[str]]:
    """Find out which submissions are versions of recorded submissions, and refuse names of other submissions.

    If the submission's name is recorded with equal files as the last version, the submission gets the recorded path.
    If the name is recorded with other files, the submission is a new version, provided that its path is recorded under
    this name, that the user chose the name (`given`), or that the user confirms it; otherwise raise `UserError`. Also
    raise `UserError` for a name that could be mistaken for a recorded name.

    Returns:
        The submissions, and a note on each submission of which the board will show another version than before.
    """
    known: dict[str, list[Request]] = {}
    for request in by_age(records.requests()):
        known.setdefault(request.submission, []).append(request)
    similar = {alike(name): name for name in known}
    settled, notes = [], []
    for submission in submissions:
        before = [] if submission.is_baseline else known.get(submission.name, [])
        is_known_path = submission.source in {request.source for request in before}
        if before and submission.digest == before[-1].submission_digest:
            settled.append(submission if is_known_path else replace(submission, source=before[-1].source))
            continue
        if before:
            if not given and not is_known_path:
                _require_confirmed(submission, before[-1], confirm)
            notes.append(_note(submission, before))
        elif not submission.is_baseline and (other := similar.get(alike(submission.name))):
            problem = f"{submission.name!r} could be mistaken for {other!r}, which is recorded here"
            remedy = f"name it with --as NAME (--as {other!r} makes it a version of the recorded submission)"
            raise UserError(problem, file=submission.source, remedy=remedy)
        settled.append(submission)
    return settled, notes


def _note(submission: Submission, before: Sequence[Request]) -> str:
    returns = submission.digest in {request.submission_digest for request in before}
    news = f"is requested again after {before[-1].submission_digest[:8]}" if returns else "is new"
    return f"{submission.name}: version {submission.digest[:8]} {news}; the board shows it from now on"


def _require_confirmed(submission: Submission, last: Request, confirm: Confirm) -> None:
    question = f"{submission.name!r} was last run from {last.source}. Is {submission.source} a new version of it?"
    if not confirm(question):
        problem = f"another submission is called {submission.name!r}: {last.source}"
        remedy = f"name it with --as NAME (--as {submission.name!r} makes it a new version of the other submission)"
        raise UserError(problem, file=submission.source, remedy=remedy)


def endless_repeat(submission: Submission) -> str | None:
    """Return a sentence on the first line of code that repeats data for ever; None if there is no such line."""
    for name, content in sorted(submission.files.items()):
        if name.endswith(".py") and (found := _REPEATED.search(text := content.decode(errors="replace"))):
            line = 1 + text.count("\n", 0, found.start())
            return f"{name}:{line}: repeat() without a number never ends; give it a number, or take() a part of it."
    return None
