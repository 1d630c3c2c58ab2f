"""Errors that the user can fix: printed as one line each without a traceback, exit code 2."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.text import safe_line

#: Receives one-line warnings about missing features or weaker guarantees.
Warn = Callable[[str], None]


class UserError(Exception):
    """An error that the user can fix.

    The message is one line, ``FILE: WHAT: expected EXPECTED, found FOUND; REMEDY``, without the parts that do not
    apply. Even with text of strangers it is printable, and it shows no password of an address. Any other exception
    is a bug and keeps its traceback.
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
        """The message; several errors have a line each."""
        return tuple(map(str, self.args))


class UserErrors(UserError):
    """Several errors that the user can fix, each in one line."""

    def __init__(self, *lines: object) -> None:
        Exception.__init__(self, *(safe_line(str(line)) for line in lines))

    def __str__(self) -> str:
        return "\n".join(self.lines)


@contextmanager
def writing(path: Path | str, *, problem: str = "cannot be written", remedy: str | None = None) -> Iterator[None]:
    """Turn the operating system's errors into a `UserError` that names the file, or `path` if they name none."""
    try:
        yield
    except OSError as error:
        file = error.filename2 or error.filename or path
        raise UserError(f"{problem}: {error.strerror}", file=file, remedy=remedy) from error
