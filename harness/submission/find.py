"""Finds the submissions that command-line arguments name: measures, .py files, directories and zips."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.errors import UserError, writing
from harness.hints import did_you_mean
from harness.inspector.answer import Answer
from harness.inspector.files import is_leftover
from harness.inspector.keys import KEYS
from harness.names import alike
from harness.reading import own_path
from harness.submission.inspect import inspect, is_there
from harness.submission.installed import find_installed, installed_measures
from harness.submission.library import find_baseline
from harness.submission.name import RENAME, clean, require_name, taken
from harness.submission.submission import Metadata, Submission
from harness.text import is_text, printable


def find_submission(argument: str, name: str | None = None) -> Submission:
    """Return the submission that a command-line argument names. Raise `UserError` if it does not exist.

    If a measure and a path have the same name, the argument means the measure, and `./name` the path. A path that
    exists but cannot be run (no complexity.py, links, too large) is a submission with a `problem`. `name` replaces the
    name in a path's metadata.
    """
    if measure := find_named(argument):
        return measure
    _require_there(argument)
    return _from_path(Path(argument), name)


def _require_there(argument: str) -> None:
    path = Path(argument)
    if argument and is_there(path):  # without a name, the path would be the current directory
        return
    if not is_there(path.parent):
        raise UserError("no such directory", file=path.parent)
    with writing(path.parent, problem="cannot be read"):  # the parent may be a file
        siblings = [entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")]
    import baselines  # here, because it imports all measures

    installed = [measure.name for measure in installed_measures()]
    remedy = did_you_mean(path.name.partition(":")[0], [*baselines.MEASURES, *installed, *siblings])
    raise UserError(
        "no such file, directory, zip or measure", file=argument or "''",
        remedy=remedy or "pgdl measures lists the measures",
    )  # fmt: skip


def find_named(argument: str) -> Submission | None:
    """Return the measure `argument` of the library or of an installed package; None if there is no such measure."""
    return find_baseline(argument) or find_installed(argument)


def find_submissions(
    arguments: Sequence[str], names: Sequence[str] = (), note: Callable[[str], None] = lambda _: None, *,
    as_files: bool = False,
) -> tuple[list[Submission], list[str]]:  # fmt: skip
    """Return the submissions that the arguments name, and a line on each file that is refused.

    Several submissions may have the same name. Files such as .DS_Store are skipped. Raise `UserError` if an argument
    names nothing.

    Args:
        arguments: names of measures, and paths.
        names: empty, or a new name for each path among the arguments.
        note: receives lines on how submissions were read.
        as_files: whether names of files replace names in metadata; `names` must then be empty.
    """
    if names and as_files:
        raise UserError("--as and --as-files contradict each other", remedy="leave one out")
    arguments = [one for one in arguments if not is_leftover(Path(one).name)] or arguments
    measures = [find_named(argument) for argument in arguments]
    if names and len(names) != measures.count(None):
        expected = f"one for each SUBMISSION that is not a measure ({measures.count(None)} in all)"
        raise UserError("--as", expected=expected, found=len(names))
    for name in names:
        require_name(name)
    paths = [argument for argument, measure in zip(arguments, measures, strict=True) if measure is None]
    for path in paths:  # a mistyped argument ends the command before anything is read
        _require_there(path)
    given = map(_name_of_file, map(Path, paths)) if as_files else iter(names)
    found, refused = [], []
    for argument, measure in zip(arguments, measures, strict=True):
        try:
            submission = measure or _from_argument(argument, next(given, None))
        except UserError as reason:
            refused.append(str(reason))
            continue
        if measure is not None and Path(argument).exists():
            whose = "library's" if submission.is_baseline else "installed"
            note(f"{argument} means the {whose} measure; the path here is ./{argument}")
        for line in submission.notes:
            note(f"{argument}: {line}")
        found.append(submission)
    return found, refused


def _from_argument(argument: str, name: str | None) -> Submission:
    submission = _from_path(Path(argument), name)
    if owner := taken(submission.name):
        raise UserError(f"cannot be called {submission.name!r}: {owner}", file=submission.source, remedy=RENAME)
    return submission


def _from_path(path: Path, given: str | None) -> Submission:
    found = inspect(path)
    metadata, problem = Metadata.from_texts(found.metadata), found.problem
    claimed, own = metadata.name, _name_of_file(path)
    name = (clean(claimed) if claimed else own) if given is None else given
    if given is None and claimed and (owner := taken(name)):
        problem = problem or f"metadata: name: expected a name of your own, found {claimed!r}: {owner}"
        name = own
    is_claimed = given is None and alike(name) != alike(own)
    require_name(name)
    source = str(own_path(path / found.folder if path.is_dir() else path))
    if not is_text(source):
        where = printable(source)
        raise UserError("cannot be recorded", file=where, expected="a path without control characters")
    return Submission(
        name, dict(found.files), metadata, source=source, notes=tuple(_notes(found)), problem=problem,
        is_claimed=is_claimed,
    )  # fmt: skip


def _notes(found: Answer) -> Iterator[str]:
    if found.folder:
        yield f"its only folder, {found.folder}, is the submission"
    for key in found.unknown_keys:
        if hint := did_you_mean(key, KEYS):
            yield f"metadata: unknown key {key!r}; {hint}"


def _name_of_file(path: Path) -> str:
    named = path.parent if path.name == "complexity.py" else path
    if named.name in ("", ".."):
        named = named.resolve()
    return clean(named.stem if named.is_file() else named.name)
