"""Reads and writes the mark of a hidden task: the file `metadata` beside the task's reference data."""

import reprlib
from collections.abc import Iterable
from pathlib import Path

from harness.errors import UserError, writing
from harness.format.layout import MARKS
from harness.plain_yaml import parse_yaml
from harness.reading import read_regular

MAX_BYTES = 64 * 1024

_EXPECTED = "one line, `hidden: true` or `hidden: false`"


def find_marks(directories: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files `metadata` in directories; raises `UserError` if a file's existence cannot be determined."""
    return tuple(path for directory in directories for name in MARKS if _is_there(path := directory / name))


def is_hidden(marks: Iterable[Path]) -> bool:
    """Whether a file in `marks` says `hidden: true`; raises `UserError` if a file says neither true nor false."""
    values = [_read(path) for path in marks]  # all, so that no mistake in a mark is missed
    return True in values


def write_mark(directory: Path) -> Path:
    """Mark a task as hidden, by a file in the directory of its reference data. Return the path of this file."""
    path = directory / MARKS[0]
    with writing(path):
        path.write_text("hidden: true\n", encoding="utf-8")
    return path


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise UserError("cannot tell whether the task is hidden", file=path, found=error.strerror) from error
    return True


def _read(path: Path) -> bool:
    try:
        content = parse_yaml(read_regular(path, MAX_BYTES, links=True))
    except ValueError as error:  # the message does not quote the file, which may be private
        raise UserError("not plain YAML", file=path, expected=_EXPECTED, found="something else") from error
    if not isinstance(content, dict):
        found = {type(None): "nothing", list: "a list"}.get(type(content), "text")
        raise UserError("not a mark", file=path, expected=_EXPECTED, found=found)
    if list(content) != ["hidden"]:
        found = reprlib.repr(", ".join(map(str, content))) if content else "nothing"
        raise UserError("keys", file=path, expected="hidden, once", found=found)
    hidden = content["hidden"]
    if not isinstance(hidden, bool):
        raise UserError("hidden", file=path, expected="true or false", found=reprlib.repr(hidden))
    return hidden
