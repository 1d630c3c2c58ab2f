"""Writes a site to a directory, and the report on a submission to a single file."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import UserError, writing
from harness.site.data import SiteData
from harness.site.files import SETTINGS, to_files
from harness.site.pages import render_report, render_site

#: Directory with the files of a new site, until it is complete. An interrupted `write_site` leaves it.
_NEW = ".new"

#: Names in the directory of a site.
_NAMES = {
    "assets", "compare.html", "data", "index.html", "leaderboard.csv", "leaderboard.json", "leaderboard.md",
    "leaderboard.tex", "reading.html", "submissions", "tasks", "values.js", _NEW,
}  # fmt: skip


def write_site(data: SiteData, directory: Path) -> str:
    """Write a site to a directory, in place of an earlier site. Return the last digest of the chain of records.

    Raise `UserError` if the directory contains anything but a site, or cannot be written.
    """
    require_replaceable(directory)
    files, head = to_files(data)
    files |= render_site(data, head)
    temporary = directory / _NEW
    with writing(directory):
        _remove(temporary)  # possibly a link to another directory, into which files would be written
        temporary.mkdir(parents=True)
        try:
            for name, content in files.items():
                (temporary / name).parent.mkdir(parents=True, exist_ok=True)
                (temporary / name).write_bytes(content)
        except OSError:  # a full disk; the earlier site is untouched
            _remove(temporary)
            raise
        replace_content(directory, temporary)
    return head


def replace_content(directory: Path, new: Path) -> None:
    """Replace the files in `directory` by the files in the directory `new`, which is on the same file system.

    After an interruption, `require_replaceable` still accepts `directory`.
    """
    directory.mkdir(exist_ok=True)
    complete = directory / _NEW
    if new != complete:
        _remove(complete)
        new.rename(complete)
    for old in directory.iterdir():
        if old != complete:
            _remove(old)
    for one in complete.iterdir():
        one.rename(directory / one.name)
    complete.rmdir()


def require_replaceable(directory: Path) -> None:
    """Raise `UserError` if a directory has files such as `.git`, which `write_site` would delete.

    A missing or empty directory, or one with an earlier site, can be replaced.
    """
    if not directory.exists():
        return
    if not directory.is_dir():
        raise UserError("not a directory", file=directory, remedy="name another directory")
    names = {path.name for path in directory.iterdir()}
    # If `replace_content` was interrupted, the settings may still be among the new files.
    if names - {_NEW} and not any((place / SETTINGS).is_file() for place in (directory, directory / _NEW)):
        found = "other files"
        raise UserError("not a site", file=directory, expected="an empty directory or an earlier site", found=found)
    if others := sorted(names - _NAMES):
        remedy = "move it away, or name another directory"
        raise UserError("not only a site", file=directory, expected="no other files", found=others[0], remedy=remedy)


def _remove(path: Path) -> None:
    """Remove a file or directory, if it exists. If it is a link, keep the link's target."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def write_report(page: Mapping[str, Any], file: Path) -> None:
    """Write a page of `submission_pages` to a single HTML file. Raise `UserError` if this fails."""
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(render_report(page).encode())
