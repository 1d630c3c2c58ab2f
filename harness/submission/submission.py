"""What a participant hands in: a .py file, a directory or a zip with complexity.py, or a baseline's name."""

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
    """A submission in memory: what is digested is what runs."""

    name: str
    files: dict[str, bytes] = field(repr=False)  #: relative path -> content
    metadata: Metadata = field(default_factory=Metadata)
    is_baseline: bool = False
    source: str = LIBRARY  #: absolute path of what was handed in
    unknown_keys: tuple[str, ...] = ()  #: of its metadata
    problem: str | None = None  #: why it cannot be run at all; its calls are then INVALID_SUBMISSION

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
    """Return the submission that a command-line argument names; raises `UserError` if it names nothing.

    A baseline may have parameters, `name:parameter=value,...`; then all of this is the submission's name. The name of a
    measure means the measure, also where a path of that name exists: `./name` means the path. What is there but
    cannot be run (no complexity.py, links, too large) is a submission with a `problem`.
    `name` is what a path's submission is to be called, whatever its metadata and its path say.
    """
    baseline = find_baseline(argument)
    if baseline is not None:
        return baseline
    path = Path(argument)
    if is_there(path):
        return _from_path(path, name)
    if not is_there(path.parent):
        raise UserError("no such directory", file=path.parent)
    beside = [entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")]
    remedy = did_you_mean(path.name.partition(":")[0], [*baselines.MEASURES, *beside])
    raise UserError(
        "no such file, directory, zip or baseline", file=argument, remedy=remedy or "pgdl measures lists the baselines"
    )


def find_baseline(specification: str) -> Submission | None:
    """Return the baseline that is written `name` or `name:parameter=value,...`, None if there is none of that name.

    Raises `UserError` for a parameter that it does not have, or a value of another type than the default.
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
    """Return the submissions that the arguments name; two of one name would share a row of the board.

    `names` are what the paths among the arguments are to be called: one for each of them, or none at all. Among
    several arguments files that are no submissions are left out; `note` is told of them.
    """
    is_path = [find_baseline(argument) is None for argument in arguments]
    if names and len(names) != sum(is_path):
        expected = f"once for each SUBMISSION that is no measure of the library ({sum(is_path)} times)"
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
        if submission.is_baseline and Path(argument).exists():
            note(f"{argument} means the library's measure; what lies here is ./{argument}")
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


@functools.cache
def _package() -> dict[str, bytes]:
    """The sources of all baselines, read once: they must not differ from one baseline to the next."""
    package = Path(baselines.__file__).parent
    sources = sorted(package.rglob("*.py"))
    return {f"baselines/{file.relative_to(package).as_posix()}": file.read_bytes() for file in sources}
