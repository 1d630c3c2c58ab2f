"""Reads files and folders from a git repository, which may contain a hostile change.

Nothing is checked out, so that no hook, filter, attribute, link or submodule of the change takes effect. Only commands
of git that print objects are called, and their output is bounded.
"""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from harness import children
from harness.errors import UserError
from harness.text import printable

#: Options of every command: no program of the repository's configuration runs, and nothing is fetched.
OPTIONS = (
    "--no-pager", "--no-replace-objects", "--no-optional-locks", "--literal-pathspecs",
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.attributesFile=/dev/null",
    "-c", "protocol.allow=never", "-c", "diff.external=", "-c", "core.quotePath=false",
)  # fmt: skip

#: Time limit of a command in seconds; the largest histories need a few seconds.
TIMEOUT_S = 120

#: Maximum length of an entry of a listing in bytes: mode, ID, size and path.
MAX_ENTRY = 64 * 1024

#: Maximum length of a shown error message of git, in characters.
MAX_MESSAGE = 200

#: Modes of entries that are not regular files.
LINK, FOLDER, SUBMODULE = "120000", "040000", "160000"


class GitEntry(NamedTuple):
    """A file, folder, link or submodule in a revision."""

    path: str  #: path below the listed folder; bytes that are not UTF-8 are surrogates
    mode: str  #: six digits, such as `FOLDER`
    id: str  #: ID of the git object: equal for equal contents
    size: int | None = None  #: number of bytes, if the entry is from `Repository.files`; otherwise None


class GitError(Exception):
    """A command of git failed. The message is one line."""


class Repository:
    """The objects of a git repository. Raise `UserError` if `directory` is not a readable repository."""

    def __init__(self, directory: Path) -> None:
        if shutil.which("git") is None:
            raise UserError("git is not installed", remedy="install it, e.g. apt-get install git")
        if not directory.is_dir():
            raise UserError("not a directory", file=directory, expected="a git repository")
        self._directory = directory
        self._git = ["git", "-C", str(directory.absolute()), *OPTIONS]
        try:
            self._text("rev-parse", "--git-dir")
        except GitError as error:
            raise UserError(f"not a git repository that can be read: {error}", file=directory) from error

    def resolve(self, revision: str) -> str:
        """Return the ID of the commit that a revision names. Raise `UserError` if the repository lacks this commit."""
        try:
            return self._text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except GitError as error:
            is_empty = not self._text("rev-list", "--all", "--max-count=1")
            remedy = (
                "the repository is empty: commit first" if is_empty else "fetch it first: git fetch origin REVISION"
            )
            raise UserError(f"no commit {printable(revision)!r}", file=self._directory, remedy=remedy) from error

    def merge_base(self, base: str, head: str) -> str:
        """Return the last common commit of `base` and `head`. Raise `UserError` if the repository has none."""
        try:
            return self._text("merge-base", base, head).splitlines()[0]
        except (GitError, IndexError) as error:
            remedy = "their histories are separate: rebase the change onto the base"
            if self._text("rev-parse", "--is-shallow-repository") == "true":
                remedy = "fetch the whole history (git fetch --unshallow; fetch-depth: 0)"
            raise UserError(f"{base[:12]} and {head[:12]} have no common commit here", remedy=remedy) from error

    def folder(self, revision: str, path: str) -> str | None:
        """Return the ID of the folder `path` in a revision; None if there is no such folder."""
        if path == ".":
            return self._text("rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}")
        found = list(self._listing("ls-tree", "-z", "--full-tree", revision, "--", path, limit=1))
        return found[0].id if found and found[0].mode == FOLDER else None

    def entries(self, tree: str, limit: int) -> list[GitEntry]:
        """Return the direct entries of a folder. Raise `GitError` for more than `limit` entries."""
        return list(self._listing("ls-tree", "-z", "--full-tree", tree, limit=limit))

    def files(self, tree: str, limit: int) -> list[GitEntry]:
        """Return all files in a folder and its subfolders, with sizes. Raise `GitError` for more than `limit` files."""
        return list(self._listing("ls-tree", "-z", "-r", "-l", "--full-tree", tree, limit=limit))

    def size(self, blob: str) -> int:
        """Return the size of a file's content in bytes."""
        return int(self._text("cat-file", "-s", blob))

    def content(self, blob: str) -> bytes:
        """Return the committed content of a file, without filters or conversion of line ends."""
        return self._call("cat-file", "blob", blob)

    def changed_paths(self, before: str, after: str, limit: int) -> list[str]:
        """Return the paths that differ between two commits. Raise `GitError` for more than `limit` paths."""
        command = ("diff-tree", "-r", "-z", "--no-renames", "--name-only", "--no-ext-diff", "--no-textconv")
        with self._started(*command, before, after) as output:
            found = [os.fsdecode(part) for part in islice(_parts(output), limit + 1)]
        if len(found) > limit:
            raise GitError(f"expected at most {limit} changed files, found more")
        return found

    def _listing(self, *arguments: str, limit: int) -> Iterator[GitEntry]:
        with self._started(*arguments) as output:
            for number, part in enumerate(_parts(output)):
                if number == limit:
                    raise GitError(f"expected at most {limit} files and folders, found more")
                about, _, path = part.partition(b"\t")
                mode, _, identity, *size = about.decode("ascii").split()
                yield GitEntry(
                    os.fsdecode(path), mode, identity, int(size[0]) if size and size[0].isdecimal() else None
                )

    def _text(self, *arguments: str) -> str:
        return os.fsdecode(self._call(*arguments)).strip()

    def _call(self, *arguments: str) -> bytes:
        try:
            done = children.run([*self._git, *arguments], _environment(), seconds=TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {arguments[0]} took more than {TIMEOUT_S} s") from error
        if done.returncode:
            raise GitError(_reason(arguments[0], done.returncode, done.stderr))
        return done.stdout

    @contextmanager
    def _started(self, *arguments: str) -> Iterator[IO[bytes]]:
        """Start a command, and yield its output. If it fails before the caller stops reading, raise `GitError`."""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with children.popen([*self._git, *arguments], _environment(), **streams) as process:
            assert process.stdout is not None
            late = threading.Timer(TIMEOUT_S, process.kill)
            late.start()
            try:
                yield process.stdout
                status = 0 if process.stdout.read(1) else process.wait()
            finally:
                late.cancel()
                process.kill()
        if status:
            raise GitError(_reason(arguments[0], status, b""))


def _environment() -> dict[str, str]:
    """Return the environment of git's commands, without variables that could redirect git.

    The environment forbids all protocols, because git before 2.39.4 fetches missing objects despite GIT_NO_LAZY_FETCH.
    The option `protocol.allow` would not suffice: settings of the repository override it.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "LD_", "PGDL_"))}
    return kept | {
        "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1",
        "GIT_ATTR_NOSYSTEM": "1",
    }  # fmt: skip


def _parts(output: IO[bytes]) -> Iterator[bytes]:
    """Yield the parts of an output, each ended by a null byte. Raise `GitError` for a part longer than `MAX_ENTRY`."""
    waiting = b""
    while chunk := output.read1(MAX_ENTRY):  # type: ignore[attr-defined]
        *whole, waiting = (waiting + chunk).split(b"\0")
        yield from whole
        if len(waiting) > MAX_ENTRY:
            raise GitError(f"expected paths of at most {MAX_ENTRY} bytes, found a longer one")


def _reason(command: str, status: int, errors: bytes) -> str:
    lines = errors.decode(errors="replace").splitlines()
    return printable(lines[0])[:MAX_MESSAGE] if lines else f"git {command} ended with status {status}"
