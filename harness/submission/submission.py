"""What a participant hands in: a .py file, a directory or a zip with complexity.py, or a baseline's name."""

import difflib
import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import baselines
from harness.errors import UserError
from harness.submission.metadata import Metadata, read_metadata
from harness.submission.sources import SubmissionError, read_directory, read_file, read_zip


@dataclass(frozen=True)
class Submission:
    """A submission in memory: what is digested is what runs."""

    name: str
    files: dict[str, bytes] = field(repr=False)  #: relative path -> content
    metadata: Metadata = field(default_factory=Metadata)
    is_baseline: bool = False
    problem: str | None = None  #: why it cannot be run at all; its calls are then INVALID_SUBMISSION

    @cached_property
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

    A path that exists goes before a baseline of the same name. What is there but cannot be run (no
    complexity.py, links, too large) is a submission with a `problem`.
    """
    path = Path(argument)
    if path.exists():
        return _from_path(path)
    if argument in baselines.MEASURES:
        return _baseline(argument)
    close = difflib.get_close_matches(argument, baselines.MEASURES, n=1)
    hint = f"did you mean {close[0]}?" if close else f"baselines: {', '.join(baselines.MEASURES)}"
    raise UserError("no such file, directory, zip or baseline", file=argument, remedy=hint)


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
    problem = None
    files: dict[str, bytes] = {}
    metadata = Metadata()
    try:
        read = read_directory if path.is_dir() else read_zip if path.suffix == ".zip" else read_file
        files = read(path)
        metadata = read_metadata(files)
        if "complexity.py" not in files:
            problem = f"expected a file complexity.py at the top, found {_listing(files)}"
    except SubmissionError as error:
        problem = "".join(character if character.isprintable() else "?" for character in str(error))
    return Submission(_label(metadata.name or name), files, metadata, problem=problem)


def _baseline(name: str) -> Submission:
    package = Path(baselines.__file__).parent
    sources = sorted(package.rglob("*.py"))
    files = {f"baselines/{file.relative_to(package).as_posix()}": file.read_bytes() for file in sources}
    files["complexity.py"] = f"from baselines import load, share\n\nshare()\ncomplexity = load({name!r})\n".encode()
    metadata = Metadata(name=name, description=baselines.MEASURES[name].meaning)
    return Submission(name, files, metadata, is_baseline=True)


def _label(name: str) -> str:
    """A name that is safe to print and to put into a table."""
    return re.sub(r"[^\w.+ -]", "_", name).strip()[:80] or "unnamed"


def _listing(files: dict[str, bytes]) -> str:
    names = sorted(files)[:4]
    return ", ".join(names) + (" ..." if len(files) > 4 else "") if names else "nothing"
