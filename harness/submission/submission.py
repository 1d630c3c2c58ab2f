"""Submissions: a .py file, a directory or zip with complexity.py, or the name of a baseline."""

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import baselines
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.inspector.keys import KEYS
from harness.submission.inspect import NotASubmissionError, inspect, is_there
from harness.submission.metadata import Metadata
from harness.submission.name import ALLOWED, MAX_NAME, clean, is_name, is_specification, taken

#: The source of the library's measures.
LIBRARY = "library"


@dataclass(frozen=True)
class Submission:
    """A submission in memory: the digest covers exactly the files that run."""

    name: str
    files: dict[str, bytes] = field(repr=False)  #: relative path -> content
    metadata: Metadata = field(default_factory=Metadata)
    is_baseline: bool = False
    source: str = LIBRARY  #: absolute path of the file or directory
    unknown_keys: tuple[str, ...] = ()  #: of its metadata
    problem: str | None = None  #: reason why it cannot be run; its calls are then INVALID_SUBMISSION

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all paths and contents."""
        digest = hashlib.sha256()
        for path, content in sorted(self.files.items()):
            digest.update(f"{len(path.encode())} {path} {len(content)} ".encode() + content)
        return digest.hexdigest()

    def write(self, directory: Path) -> None:
        """Write the files under `directory`, readable by everybody."""
        for path, content in self.files.items():
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def find_submission(argument: str, name: str | None = None) -> Submission:
    """Return the submission that a command-line argument names; raises `UserError` if there is none.

    A baseline may have parameters, `name:parameter=value,...`; the whole text is then the submission's name. The name
    of a measure means the measure, even if a path of that name exists: `./name` means the path. A path that exists but
    cannot be run (no complexity.py, links, too large) is a submission with a `problem`.
    `name` overrides the name from a path and its metadata.
    """
    baseline = find_baseline(argument)
    if baseline is not None:
        return baseline
    path = Path(argument)
    if is_there(path):
        return _from_path(path, name)
    if not is_there(path.parent):
        raise UserError("no such directory", file=path.parent)
    siblings = [entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")]
    remedy = did_you_mean(path.name.partition(":")[0], [*baselines.MEASURES, *siblings])
    raise UserError(
        "no such file, directory, zip or baseline", file=argument, remedy=remedy or "pgdl measures lists the baselines"
    )


def find_baseline(specification: str) -> Submission | None:
    """Return the baseline `name` or `name:parameter=value,...`, or None if there is none of that name.

    Raises `UserError` for an unknown parameter, or a value of another type than the default.
    """
    name, _, parameters = specification.partition(":")
    if name not in baselines.MEASURES:
        return None
    measure = baselines.MEASURES[name]
    try:
        baselines.load(specification)
    except ValueError as error:
        given = (part.partition("=")[0] for part in parameters.split(","))
        unknown = next((one for one in given if one not in measure.parameters), "")
        raise UserError(str(error), file=specification, remedy=did_you_mean(unknown, measure.parameters)) from error
    if not is_specification(specification):
        expected = f"at most {MAX_NAME} ASCII letters, digits and . + - _ : = ,"
        raise UserError("cannot be a name", file=specification, expected=expected)
    code = f"from baselines import load, share\n\nshare()\ncomplexity = load({specification!r})\n"
    files = _package() | {"complexity.py": code.encode()}
    metadata = Metadata(name=specification, description=measure.meaning)
    return Submission(specification, files, metadata, is_baseline=True)


def find_submissions(
    arguments: Sequence[str], names: Sequence[str] = (), note: Callable[[str], None] = lambda _: None
) -> list[Submission]:
    """Return the submissions that the arguments name; their names must differ, because each has a row of the board.

    `names` are the names of the paths among the arguments: one for each path, or none at all. Among several arguments,
    files that are not submissions are skipped and reported to `note`.
    """
    is_path = [find_baseline(argument) is None for argument in arguments]
    if names and len(names) != sum(is_path):
        expected = f"one for each SUBMISSION that is not a measure of the library ({sum(is_path)} in all)"
        raise UserError("--as", expected=expected, found=len(names))
    given = iter(names)
    found: dict[str, Submission] = {}
    skipped: list[UserError] = []
    for argument, one_path in zip(arguments, is_path, strict=True):
        try:
            submission = find_submission(argument, next(given, None) if one_path else None)
        except NotASubmissionError as reason:
            skipped.append(reason)
            continue
        if submission.is_baseline and Path(argument).exists():
            note(f"{argument} means the library's measure; the path here is ./{argument}")
        for key in submission.unknown_keys:
            if hint := did_you_mean(key, KEYS):
                note(f"{argument}: metadata: unknown key {key!r}; {hint}")
        if submission.name in found:
            remedy = "give each its own name: --as NAME, once per SUBMISSION, in order"
            raise UserError(f"a second submission named {submission.name!r}", file=argument, remedy=remedy)
        found[submission.name] = submission
    if not found:
        raise skipped[0]
    for error in skipped:
        note(f"skipped: {error}")
    return list(found.values())


def _from_path(path: Path, given: str | None) -> Submission:
    found = inspect(path)
    claimed, problem = found.metadata.name, found.problem
    name = given or clean(claimed or _own_name(path))
    if given is None and claimed and (owner := taken(name)):
        problem = problem or f"metadata: name: expected a name of your own, found {claimed!r}: {owner}"
        name = clean(_own_name(path))
    if not is_name(name):
        raise UserError("cannot be a name", file=name, expected=ALLOWED)
    if owner := taken(name):
        raise UserError(f"cannot be called {name!r}: {owner}", file=path, remedy="name it with --as NAME")
    source, unknown = str(path.resolve()), found.unknown_keys
    return Submission(name, found.files, found.metadata, source=source, unknown_keys=unknown, problem=problem)


def _own_name(path: Path) -> str:
    """Return the name of the file or directory; for `complexity.py`, that of its directory."""
    resolved = path.resolve()
    if resolved.name == "complexity.py":
        return resolved.parent.name
    return resolved.stem if resolved.is_file() else resolved.name


@functools.cache
def _package() -> dict[str, bytes]:
    """Return the sources of all baselines, read once, so that they cannot differ between baselines of a run."""
    package = Path(baselines.__file__).parent
    sources = sorted(package.rglob("*.py"))
    return {f"baselines/{file.relative_to(package).as_posix()}": file.read_bytes() for file in sources}
