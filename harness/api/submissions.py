"""Finds the submissions that a user hands in, and refuses names that belong to other submissions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from harness.api.progress import Progress
from harness.board.versions import by_age
from harness.errors import UserError
from harness.names import alike, as_names
from harness.records import Records, Request
from harness.submission import Submission, find_submissions, from_function
from harness.submission.name import RENAME

#: Remedy for a name that is recorded for another submission; `{!r}` is the recorded name.
_OF_ONE_AUTHOR = RENAME + "; only if both are of one author, --as {!r} makes it a new version"

#: A path, the name of a measure, or a Python function `complexity(model, dataset)`.
Argument = str | Path | Callable[..., Any]


def find(
    given: Sequence[Argument] | Argument, names: Sequence[str], progress: Progress, *, as_files: bool = False
) -> tuple[list[Submission], list[str]]:
    """Return the submissions that a user hands in, and a line on each refusal.

    `given` holds paths and names of measures, or functions. `names` is empty, or has the name of each submission that
    is not a measure, in the order of `given`. `as_files` is as for `pgdl.run`. Raise `UserError` if a submission does
    not exist, or if a function has no source.
    """
    arguments, names = _arguments(given), as_names(names)
    functions = [one for one in arguments if callable(one)]
    if functions and len(functions) < len(arguments):
        raise UserError("submissions", expected="functions only, or paths and names only", found="both")
    if not functions:
        return find_submissions([str(one) for one in arguments], names, progress.note, as_files=as_files)
    if names and len(names) != len(functions):
        raise UserError("names", expected=f"one for each function ({len(functions)} in all)", found=len(names))
    return [from_function(one, name, progress.note) for one, name in zip_longest(functions, names)], []


def _arguments(given: Sequence[Argument] | Argument) -> list[Argument]:
    several = [given] if isinstance(given, str | Path) or callable(given) else given
    is_list = isinstance(several, Iterable) and not isinstance(several, bytes)
    arguments = list(several) if is_list else []
    if not arguments or not all(isinstance(one, str | Path) or callable(one) for one in arguments):
        raise UserError("submissions", expected="paths, names of measures, or functions", found=repr(given))
    return arguments


def settle_names(
    submissions: Sequence[Submission], records: Records, *, given: bool
) -> tuple[list[Submission], list[str], list[str]]:
    """Find out which submissions are versions of recorded submissions, and refuse names of other submissions.

    If the last version recorded under a submission's name has equal files, the submission gets the recorded path.
    If the name is recorded with other files, the submission is a new version, provided that its path is recorded under
    this name, or that the user chose the name (`given`); otherwise it is refused. A name that could be mistaken for a
    recorded name is refused, too.

    If several submissions have equal names, or names that could be mistaken for each other, the one with the best claim
    to the name stays, and the others are refused; if the best claims are equal, all are refused. A submission has
    the best claim if its path is recorded under the name, and the weakest if only its metadata have the name.

    Returns:
        The accepted submissions, each once; a note on each submission whose version on the board will change; and a
        line on each refused submission.
    """
    known: dict[str, list[Request]] = {}
    for request in by_age(records.requests()):
        known.setdefault(request.submission, []).append(request)
    similar = {alike(name): name for name in known}
    distinct = {(one.name, one.source, one.digest): one for one in submissions}.values()
    sharing: dict[str, list[Submission]] = {}
    for one in distinct:
        if not one.is_baseline:
            sharing.setdefault(alike(one.name), []).append(one)
    settled, notes, refused = [], [], []
    for one in distinct:
        before = [] if one.is_baseline else known.get(one.name, [])
        is_known = _is_known(one, known)
        others = [other for other in sharing.get(alike(one.name), ()) if other is not one]
        if one.is_baseline:
            settled.append(one)
        elif others and _claim(one, known) <= _claim(rival := max(others, key=lambda it: _claim(it, known)), known):
            refused.append(_shares_name(one, rival))
        elif before and one.digest == before[-1].submission_digest:
            settled.append(one if is_known else replace(one, source=before[-1].source))
        elif before and not given and not is_known:
            problem = f"another submission is called {one.name!r}: {before[-1].source}"
            refused.append(UserError(problem, file=one.source, remedy=_OF_ONE_AUTHOR.format(one.name)))
        elif not before and (other := similar.get(alike(one.name))):
            problem = f"{one.name!r} could be mistaken for {other!r}, which is recorded here: {known[other][-1].source}"
            refused.append(UserError(problem, file=one.source, remedy=_OF_ONE_AUTHOR.format(other)))
        else:
            settled.append(one)
            notes += [_note(one, before)] if before else []
    return settled, notes, list(map(str, refused))


def _is_known(submission: Submission, known: Mapping[str, Sequence[Request]]) -> bool:
    return submission.source in {request.source for request in known.get(submission.name, [])}


def _claim(submission: Submission, known: Mapping[str, Sequence[Request]]) -> tuple[bool, bool]:
    """Return a sort key: a submission with a larger key has a better claim to its name.

    A submission whose path is recorded under the name has the best claim; next comes a submission whose file or folder
    has the name.
    """
    return _is_known(submission, known), not submission.is_claimed


def _shares_name(submission: Submission, other: Submission) -> UserError:
    problem = f"{submission.name!r} could be mistaken for {other.name!r}, the name of {other.source}"
    if submission.name == other.name:
        problem = f"another submission is called {other.name!r}: {other.source}"
    return UserError(problem, file=submission.source, remedy=RENAME)


def _note(submission: Submission, before: Sequence[Request]) -> str:
    returns = submission.digest in {request.submission_digest for request in before}
    news = f"is requested again after {before[-1].submission_digest[:8]}" if returns else "is new"
    return f"{submission.name}: version {submission.digest[:8]} {news}; the board shows it from now on"
