"""What a participant hands in: a .py file, a directory or a zip with complexity.py, or a baseline's name."""

import functools
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

import baselines
from harness.errors import UserError
from harness.submission.inspect import inspect, is_there
from harness.submission.metadata import Metadata
from harness.task.files import did_you_mean

#: Characters of a name, and of what a baseline is called with its parameters.
MAX_NAME = 80


@dataclass(frozen=True)
class Submission:
    """A submission in memory: what is digested is what runs."""

    name: str
    files: dict[str, bytes] = field(repr=False)  #: relative path -> content
    metadata: Metadata = field(default_factory=Metadata)
    is_baseline: bool = False
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


def find_submission(argument: str) -> Submission:
    """Return the submission that a command-line argument names; raises `UserError` if it names nothing.

    A baseline may have parameters, `name:parameter=value,...`; then all of this is the submission's name. A path
    that exists goes before a baseline of the same name. What is there but cannot be run (no complexity.py, links,
    too large) is a submission with a `problem`.
    """
    path = Path(argument)
    if is_there(path):
        return _from_path(path)
    baseline = find_baseline(argument)
    if baseline is not None:
        return baseline
    hint = did_you_mean(argument.partition(":")[0], baselines.MEASURES) or "pgdl measures lists the baselines"
    raise UserError("no such file, directory, zip or baseline", file=argument, remedy=hint)


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
    if _label(specification, allowed=":=,") != specification:
        expected = f"at most {MAX_NAME} letters, digits and . + - _ : = ,"
        raise UserError("cannot be a name", file=specification, expected=expected)
    code = f"from baselines import load, share\n\nshare()\ncomplexity = load({specification!r})\n"
    files = _package() | {"complexity.py": code.encode()}
    metadata = Metadata(name=specification, description=measure.meaning)
    return Submission(specification, files, metadata, is_baseline=True)


def find_submissions(arguments: tuple[str, ...]) -> list[Submission]:
    """Return the submissions that the arguments name; two of one name would share a row of the board."""
    found: dict[str, Submission] = {}
    for argument in arguments:
        submission = find_submission(argument)
        if submission.name in found:
            remedy = "rename one of them (or give it a `name` in its metadata)"
            raise UserError(f"a second submission named {submission.name!r}", file=argument, remedy=remedy)
        found[submission.name] = submission
    return list(found.values())


def _from_path(path: Path) -> Submission:
    resolved = path.resolve()
    is_generic = resolved.name == "complexity.py"
    name = resolved.parent.name if is_generic else resolved.stem if resolved.is_file() else resolved.name
    found = inspect(path)
    return Submission(_label(found.metadata.name or name), found.files, found.metadata, problem=found.problem)


@functools.cache
def _package() -> dict[str, bytes]:
    """The sources of all baselines, read once: they must not differ from one baseline to the next."""
    package = Path(baselines.__file__).parent
    sources = sorted(package.rglob("*.py"))
    return {f"baselines/{file.relative_to(package).as_posix()}": file.read_bytes() for file in sources}


def _label(name: str, allowed: str = "") -> str:
    """A name that is safe to print and to put into a table."""
    return re.sub(rf"[^\w.+ {allowed}-]", "_", name).strip()[:MAX_NAME] or "unnamed"
