"""Reads submissions from a git repository: writes their files to a private directory, and inspects them there."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from harness.ci.annotations import annotation
from harness.ci.change import Change, name_of, path_in_repository
from harness.ci.git import FOLDER, LINK, SUBMODULE, GitEntry, GitError, Repository
from harness.errors import UserError
from harness.inspector.files import SubmissionError, check_name, is_leftover
from harness.inspector.limits import MAX_BYTES, MAX_ENTRIES, MAX_FILES
from harness.reading import own_path
from harness.submission import Submission, find_flaw, find_submission
from harness.text import printable

#: Mode of a git entry that is never read -> its kind, for messages.
KINDS = {LINK: "a link", SUBMODULE: "a submodule"}


class RefusedError(Exception):
    """A submission cannot be evaluated. The message is one line."""


def read_submission(repository: Repository, folder: str, entry: GitEntry) -> Submission:
    """Return the submission in an entry of `folder`. Its name is the entry's; its `source` is a path in the repository.

    Raise `RefusedError` if the submission does not consist of regular files, is too large, or cannot be run.
    """
    name = name_of(entry)
    if entry.mode in KINDS:
        raise RefusedError(f"expected a file or folder, found {KINDS[entry.mode]}")
    with tempfile.TemporaryDirectory(prefix="pgdl-ci-") as private:
        path = Path(private, name if entry.mode == FOLDER else name + PurePosixPath(entry.path).suffix)
        prefix = f"{path.name}: "  # the caller names the submission
        try:
            if entry.mode == FOLDER:
                _write_folder(repository, entry, path)
            else:
                _write(repository, entry.id, _bounded(repository.size(entry.id)), path)
            found = find_submission(str(path), name)
        except (GitError, SubmissionError, UserError) as error:
            raise RefusedError(printable(str(error)).replace(f"{private}/", "").removeprefix(prefix)) from error
        except OSError as error:
            raise RefusedError(f"cannot be written: {error.strerror}") from error
    if found.problem:
        raise RefusedError(found.problem.removeprefix(prefix))
    inside = Path(found.source).relative_to(own_path(path))
    return replace(found, source=str(PurePosixPath(path_in_repository(folder, entry), inside.as_posix())))


def _write_folder(repository: Repository, folder: GitEntry, target: Path) -> None:
    entries = repository.files(folder.id, MAX_ENTRIES)
    entries = [entry for entry in entries if not any(map(is_leftover, entry.path.split("/")))]
    if len(entries) > MAX_FILES:
        raise SubmissionError(f"expected at most {MAX_FILES} files, found {len(entries)}")
    for entry in entries:
        name = printable(entry.path)
        check_name(name)
        if name != entry.path:
            raise SubmissionError(f"{name}: expected a name of printable characters")
        if entry.mode in KINDS:
            raise SubmissionError(f"{name}: expected a regular file, found {KINDS[entry.mode]}")
    _bounded(sum(entry.size or 0 for entry in entries))
    target.mkdir()
    for entry in entries:
        file = target / entry.path
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(repository, entry.id, entry.size or 0, file)


def _bounded(size: int) -> int:
    if size > MAX_BYTES:
        raise SubmissionError(f"expected at most {MAX_BYTES // 1024**2} MiB in all, found {size / 1024**2:.0f} MiB")
    return size


def _write(repository: Repository, blob: str, size: int, path: Path) -> None:
    content = repository.content(blob)
    if len(content) != size:
        raise GitError(f"git gave {len(content)} bytes of a file of {size}")
    with path.open("xb") as stream:
        stream.write(content)


@dataclass(frozen=True)
class Failures:
    """The parts of a submission's failures that may be published: annotations of files, and a traceback."""

    annotations: Sequence[str]
    traceback: str = ""


@dataclass
class Touched:
    """The submissions that a change touches, and their problems."""

    submissions: dict[str, Submission] = field(default_factory=dict)  #: name -> submission to evaluate
    problems: dict[str, str] = field(default_factory=dict)  #: name -> reason why the submission is refused
    annotations: list[str] = field(default_factory=list)  #: annotations of files, for GitHub
    tracebacks: dict[str, str] = field(default_factory=dict)  #: name -> traceback of a failed call, or ""

    def add(self, name: str, failures: Failures) -> None:
        """Add the annotations and the traceback of a submission."""
        self.annotations += failures.annotations
        self.tracebacks[name] = failures.traceback

    def refuse(self, name: str, problem: str, failures: Failures) -> None:
        """Exclude a submission because of `problem`, and add the annotations and the traceback in `failures`."""
        self.submissions.pop(name, None)
        self.problems[name] = problem
        self.add(name, failures)


def read_touched(repository: Repository, folder: str, change: Change) -> Touched:
    """Return the submissions that a change touches, with annotations of their problems."""
    touched = Touched()
    touched.annotations += [annotation("error", why, f"{folder}/{path}") for path, why in change.refused.items()]
    for name in change.touched:
        entry = change.after[name]
        path = path_in_repository(folder, entry)
        try:
            submission = read_submission(repository, folder, entry)
            if flaw := find_flaw(submission.files["complexity.py"]):
                raise RefusedError(flaw if path.endswith(".py") else f"complexity.py: {flaw}")
        except RefusedError as error:
            touched.refuse(name, str(error), Failures([annotation("error", str(error), path)]))
        else:
            touched.submissions[name] = submission
            touched.annotations += [annotation("notice", line, path) for line in submission.notes]
    return touched
