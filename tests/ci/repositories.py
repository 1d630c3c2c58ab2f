"""Writes commits straight into a git repository's objects, even commits that git itself would refuse to make."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MEASURE = "def complexity(model, dataset):\n    return {}\n"


class Link(NamedTuple):
    target: str


class Submodule(NamedTuple):
    commit: str = "1" * 40


class Folder(NamedTuple):
    """A folder with any entries (mode, name and content), in the order of the list."""

    entries: list[tuple[str, bytes, "str | bytes | Link | Submodule | Folder"]]


Content = str | bytes | Link | Submodule | Folder


class Repo:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, given: bytes = b"") -> str:
        """Run git with an author, and without the user's settings."""
        who = {
            f"GIT_{role}_{what}": "somebody@example.org"
            for role in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        settings = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"} | who
        command = ["git", *arguments]
        done = subprocess.run(command, cwd=self.directory, env=settings, input=given, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, files: Mapping[str, Content], *parents: str, branch: str | None = None) -> str:
        """Write a commit of exactly these files, set `branch` to it, and return its ID."""
        tree = self.write(_nested(files))
        sides = [word for parent in parents for word in ("-p", parent)]
        commit = self.git("commit-tree", tree, *sides, "-m", "a commit")
        if branch is not None:
            self.git("update-ref", f"refs/heads/{branch}", commit)
        return commit

    def write(self, folder: Folder) -> str:
        content = b""
        for mode, name, entry in folder.entries:
            content += f"{mode.lstrip('0')} ".encode() + name + b"\0" + bytes.fromhex(self._object(entry))
        return self.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=content)

    def _object(self, entry: Content) -> str:
        if isinstance(entry, Folder):
            return self.write(entry)
        if isinstance(entry, Submodule):
            return entry.commit
        text = entry.target if isinstance(entry, Link) else entry
        return self.git("hash-object", "-w", "--stdin", given=text if isinstance(text, bytes) else text.encode())


def _nested(files: Mapping[str, Content]) -> Folder:
    """Return the folder of these files, with its entries in the order that git requires."""
    folders: dict[str, dict[str, Content]] = {}
    entries: list[tuple[str, bytes, Content]] = []
    for path, content in files.items():
        head, _, rest = path.partition("/")
        if rest:
            folders.setdefault(head, {})[rest] = content
        else:
            entries.append((_mode(content), head.encode(), content))
    entries += [("040000", head.encode(), _nested(inside)) for head, inside in folders.items()]
    return Folder(sorted(entries, key=lambda entry: entry[1] + (b"/" if entry[0] == "040000" else b"")))


def _mode(content: Content) -> str:
    modes = {Link: "120000", Submodule: "160000", Folder: "040000"}
    return modes.get(type(content), "100644")
