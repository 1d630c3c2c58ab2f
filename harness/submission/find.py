"""Finds the submissions that command-line arguments name: measures, .py files, directories and zips."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.errors import UserError, writing
from harness.hints import did_you_mean
from harness.inspector.answer import Answer
from harness.inspector.keys import KEYS
from harness.names import alike
from harness.reading import own_path
from harness.submission.inspect import NotASubmissionError, inspect, is_there
from harness.submission.installed import find_installed, installed_measures
from harness.submission.library import find_baseline
from harness.submission.name import ALLOWED, clean, is_name, taken
from harness.submission.submission import Metadata, Submission
from harness.text import is_text, printable


def find_submission(argument: str, name: str | None = None) -> Submission:
    """Return the submission that a command-line argument names. Raise `UserError` if it does not exist.

    If a measure and a path have the same name, the argument means the measure, and `./name` the path. A path that
    exists but cannot be run (no complexity.py, links, too large) is a submission with a `problem`. `name` replaces the
    name in a path's metadata.
    """
    return find_named(argument) or _find_path(argument, name)


def _find_path(argument: str, name: str | None) -> Submission:
    path = Path(argument)
    if argument and is_there(path):  # without a name, the path would be the current directory
        return _from_path(path, name)
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
    arguments: Sequence[str], names: Sequence[str] = (), note: Callable[[str], None] = lambda _: None
) -> list[Submission]:
    """Return the submissions that the arguments name. Raise `UserError` for two submissions with the same name.

    `names` is empty, or has a new name for each path among the arguments. If at least one argument is a submission,
    files that are no submissions are skipped and reported to `note`.
    """
    measures = [find_named(argument) for argument in arguments]
    if names and len(names) != measures.count(None):
        expected = f"one for each SUBMISSION that is not a measure ({measures.count(None)} in all)"
        raise UserError("--as", expected=expected, found=len(names))
    given = iter(names)
    found: dict[str, Submission] = {}
    skipped: list[UserError] = []
    for argument, measure in zip(arguments, measures, strict=True):
        try:
            submission = measure or _find_path(argument, next(given, None))
        except NotASubmissionError as reason:
            skipped.append(reason)
            continue
        if measure is None and (owner := taken(submission.name)):
            remedy = "name it with --as NAME"
            raise UserError(f"cannot be called {submission.name!r}: {owner}", file=argument, remedy=remedy)
        if measure is not None and Path(argument).exists():
            whose = "library's" if submission.is_baseline else "installed"
            note(f"{argument} means the {whose} measure; the path here is ./{argument}")
        for line in submission.notes:
            note(f"{argument}: {line}")
        key = submission.name if submission.is_baseline else alike(submission.name)  # parameters may differ
        if key in found:
            remedy = "give each its own name: --as NAME, once per SUBMISSION, in order"
            what = f"a second submission named {submission.name!r}"
            also = "" if found[key].name == submission.name else f", which could be mistaken for {found[key].name!r}"
            raise UserError(what + also, file=argument, remedy=remedy)
        found[key] = submission
    if not found:
        raise skipped[0]
    for error in skipped:
        note(f"skipped: {error}")
    return list(found.values())


def _from_path(path: Path, given: str | None) -> Submission:
    found = inspect(path)
    metadata, problem = Metadata.from_texts(found.metadata), found.problem
    claimed = metadata.name
    name = clean(claimed or _own_name(path)) if given is None else given
    if given is None and claimed and (owner := taken(name)):
        problem = problem or f"metadata: name: expected a name of your own, found {claimed!r}: {owner}"
        name = clean(_own_name(path))
    if not is_name(name):
        raise UserError("cannot be a name", file=name or "''", expected=ALLOWED)
    source = str(own_path(path / found.folder if path.is_dir() else path))
    if not is_text(source):
        where = printable(source)
        raise UserError("cannot be recorded", file=where, expected="a path without control characters")
    return Submission(name, dict(found.files), metadata, source=source, notes=tuple(_notes(found)), problem=problem)


def _notes(found: Answer) -> Iterator[str]:
    if found.folder:
        yield f"its only folder, {found.folder}, is the submission"
    for key in found.unknown_keys:
        if hint := did_you_mean(key, KEYS):
            yield f"metadata: unknown key {key!r}; {hint}"


def names_of_files(arguments: Sequence[str]) -> list[str]:
    """Return the names of the files and directories among the arguments; their metadata are not read."""
    return [clean(_own_name(Path(one))) for one in arguments if find_named(one) is None]


def _own_name(path: Path) -> str:
    named = path.parent if path.name == "complexity.py" else path
    if named.name in ("", ".."):
        named = named.resolve()
    return named.stem if named.is_file() else named.name
