"""From what is written on a command line to submissions: names of measures, .py files, directories and zips."""

from collections.abc import Callable, Sequence
from pathlib import Path

import baselines
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.inspector.keys import KEYS
from harness.submission.inspect import NotASubmissionError, inspect, is_there
from harness.submission.installed import find_installed, installed_measures
from harness.submission.library import find_baseline
from harness.submission.name import ALLOWED, clean, is_name, taken
from harness.submission.submission import Submission


def find_submission(argument: str, name: str | None = None) -> Submission:
    """Return the submission that a command-line argument names; raises `UserError` if it names nothing.

    A baseline may have parameters, `name:parameter=value,...`; then all of this is the submission's name. The name of a
    measure, of the library or an installed one, means the measure, also where a path of that name exists: `./name`
    means the path. What is there but cannot be run (no complexity.py, links, too large) is a submission with a
    `problem`.
    `name` is what a path's submission is to be called, whatever its metadata and its path say.
    """
    measure = find_named(argument)
    if measure is not None:
        return measure
    path = Path(argument)
    if is_there(path):
        return _from_path(path, name)
    if not is_there(path.parent):
        raise UserError("no such directory", file=path.parent)
    beside = [entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")]
    installed = [measure.name for measure in installed_measures()]
    remedy = did_you_mean(path.name.partition(":")[0], [*baselines.MEASURES, *installed, *beside])
    raise UserError(
        "no such file, directory, zip or baseline", file=argument, remedy=remedy or "pgdl measures lists the baselines"
    )


def find_named(argument: str) -> Submission | None:
    """Return the measure that is called so, of the library or of an installed package; None if there is none."""
    return find_baseline(argument) or find_installed(argument)


def find_submissions(
    arguments: Sequence[str], names: Sequence[str] = (), note: Callable[[str], None] = lambda _: None
) -> list[Submission]:
    """Return the submissions that the arguments name; two of one name would share a row of the board.

    `names` are what the paths among the arguments are to be called: one for each of them, or none at all. Among
    several arguments files that are no submissions are left out; `note` is told of them.
    """
    is_path = [find_named(argument) is None for argument in arguments]
    if names and len(names) != sum(is_path):
        expected = f"once for each SUBMISSION that is no measure's name ({sum(is_path)} times)"
        raise UserError("--as", expected=expected, found=len(names))
    given = iter(names)
    found: dict[str, Submission] = {}
    left_out: list[UserError] = []
    for argument, one_path in zip(arguments, is_path, strict=True):
        try:
            submission = find_submission(argument, next(given, None) if one_path else None)
        except NotASubmissionError as reason:
            left_out.append(reason)
            continue
        if not one_path and Path(argument).exists():
            whose = "library's" if submission.is_baseline else "installed"
            note(f"{argument} means the {whose} measure; what lies here is ./{argument}")
        for key in submission.unknown_keys:
            if hint := did_you_mean(key, KEYS):
                note(f"{argument}: metadata: unknown key {key!r}; {hint}")
        if submission.name in found:
            remedy = "give each a name of its own: --as NAME, once for each SUBMISSION and in their order"
            raise UserError(f"a second submission named {submission.name!r}", file=argument, remedy=remedy)
        found[submission.name] = submission
    if not found:
        raise left_out[0]
    for error in left_out:
        note(f"left out: {error}")
    return list(found.values())


def _from_path(path: Path, given: str | None) -> Submission:
    found = inspect(path)
    claimed, problem = found.metadata.name, found.problem
    name = given or clean(claimed or _own_name(path))
    if given is None and claimed and (whose := taken(name)):
        problem = problem or f"metadata: name: expected a name of your own, found {claimed!r}: {whose}"
        name = clean(_own_name(path))
    if not is_name(name):
        raise UserError("cannot be a name", file=name, expected=ALLOWED)
    if whose := taken(name):
        raise UserError(f"cannot be called {name!r}: {whose}", file=path, remedy="name it by --as NAME")
    source, unknown = str(path.resolve()), found.unknown_keys
    return Submission(name, found.files, found.metadata, source=source, unknown_keys=unknown, problem=problem)


def _own_name(path: Path) -> str:
    """What the file or directory is called; `complexity.py` is called as its directory."""
    resolved = path.resolve()
    if resolved.name == "complexity.py":
        return resolved.parent.name
    return resolved.stem if resolved.is_file() else resolved.name
