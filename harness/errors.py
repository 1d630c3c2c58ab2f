"""Errors that the user can fix. For them, `pgdl` prints a line without traceback, and exits with code 2."""

import errno
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from harness.text import safe_line

#: A function that receives warnings, such as a line about a missing feature.
Warn = Callable[[str], None]


class UserError(Exception):
    """An error that the user can fix. Any other exception is a bug, and is shown with its traceback.

    The message is one line, ``FILE: WHAT: expected EXPECTED, found FOUND; REMEDY``, without the parts that do not
    apply. It has only printable characters and no password of an address, whatever text it quotes.
    """

    def __init__(
        self,
        what: str,
        *,
        file: object = None,
        expected: object = None,
        found: object = None,
        remedy: str | None = None,
    ) -> None:
        parts = [str(file)] if file is not None else []
        parts.append(what)
        if expected is not None:
            parts.append(f"expected {expected}" + (f", found {found}" if found is not None else ""))
        elif found is not None:
            parts.append(f"found {found}")
        super().__init__(safe_line(": ".join(parts) + (f"; {remedy}" if remedy else "")))

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the message. `UserErrors` has several."""
        return tuple(map(str, self.args))


def require_directory(path: Path, *, expected: object = None, remedy: str | None = None) -> None:
    """Raise `UserError` unless there is a directory at `path`."""
    if not path.is_dir():
        problem = "not a directory" if path.exists() else "no such directory"
        raise UserError(problem, file=path, expected=expected, remedy=remedy)


class UserErrors(UserError):
    """Several errors that the user can fix, with a line for each."""

    def __init__(self, *lines: object) -> None:
        Exception.__init__(self, *(safe_line(str(line)) for line in lines))

    def __str__(self) -> str:
        return "\n".join(self.lines)


def require_one_of(name: str, value: object, known: Collection[str]) -> None:
    """Raise `UserError` unless the argument `name` has one of the known values."""
    if not isinstance(value, str) or value not in known:
        raise UserError(name, expected=f"one of {', '.join(known)}", found=repr(value))


class Choice(StrEnum):
    """The possible values of an argument; any other value raises `UserError`, which names the argument by the class."""

    @classmethod
    def _missing_(cls, value: object) -> None:
        require_one_of(cls.__name__.lower(), value, list(cls))


@contextmanager
def writing(path: Path | str, *, problem: str = "cannot be written", remedy: str | None = None) -> Iterator[None]:
    """Replace an `OSError` in the context by a `UserError` about the same file, or about `path` if no file is known."""
    try:
        yield
    except OSError as error:
        file = error.filename2 or error.filename or path
        raise UserError(f"{problem}: {error.strerror}", file=file, remedy=remedy_of(error, remedy)) from error


def remedy_of(error: OSError, usual: str | None) -> str | None:
    """Return the remedy for a file that cannot be written: `usual`, except for a file above the limit on sizes."""
    return "raise the limit on the size of files (ulimit -f)" if error.errno == errno.EFBIG else usual
