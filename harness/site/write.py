"""Writes a site to a directory, and the report on a submission to a single file."""

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from harness.errors import UserError, writing
from harness.site.card import CARD
from harness.site.data import SiteData
from harness.site.files import SETTINGS, to_files
from harness.site.pages import make_site, render_report, render_site

#: Names in an earlier site's directory that a new site may lack. An interrupted `write_site` leaves `.new`.
_SOMETIMES = {"submissions", "tasks", CARD, ".new"}


def write_site(data: SiteData, directory: Path, card: bytes | None = None) -> str:
    """Write a site to a directory, and return the last digest of its records. An earlier site there is replaced.

    `card` is the preview picture of `draw_card`, if there is one. Raise `UserError` if the directory contains anything
    but a site, or cannot be written.
    """
    _require_replaceable(directory)
    files, head = to_files(data)
    files |= render_site(make_site(data, head), has_card=card is not None)
    if card is not None:
        files[CARD] = card
    _require_no_others(directory, files)
    temporary = directory / ".new"
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
        for old in directory.iterdir():
            if old != temporary:
                _remove(old)
        for new in temporary.iterdir():
            new.rename(directory / new.name)
        temporary.rmdir()
    return head


def _require_replaceable(directory: Path) -> None:
    if not directory.exists():
        return
    if not directory.is_dir():
        raise UserError("not a directory", file=directory, remedy="name another directory")
    if any(directory.iterdir()) and not (directory / SETTINGS).is_file():
        found = "other files"
        raise UserError("not a site", file=directory, expected="an empty directory or an earlier site", found=found)


def _require_no_others(directory: Path, files: Collection[str]) -> None:
    """Raise `UserError` if the directory has other files, such as `.git`, which writing would delete."""
    names = {name.partition("/")[0] for name in files} | _SOMETIMES
    if directory.exists() and (others := sorted({path.name for path in directory.iterdir()} - names)):
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
