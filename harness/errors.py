"""Errors that the user can fix: printed as one line without a traceback, exit code 2."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class UserError(Exception):
    """An error that the user can fix.

    The message is one line, ``FILE: WHAT: expected EXPECTED, found FOUND; REMEDY``, without the parts that do not
    apply. Any other exception is a bug and keeps its traceback.
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
        message = ": ".join(parts)
        super().__init__(message + (f"; {remedy}" if remedy else ""))


@contextmanager
def writing(path: Path | str, *, problem: str = "cannot be written", remedy: str | None = None) -> Iterator[None]:
    """Turn the operating system's errors into a `UserError` that names the file, or `path` if they name none."""
    try:
        yield
    except OSError as error:
        file = error.filename2 or error.filename or path
        raise UserError(f"{problem}: {error.strerror}", file=file, remedy=remedy) from error
