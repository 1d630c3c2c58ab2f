"""Messages on networks of PyTorch without the paths of the temporary files into which they were exported."""

from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import UserError, UserErrors
from harness.format.problems import InvalidTaskError


def without_place(line: object, directory: str) -> str:
    """Return a line in which names of networks replace paths of files in a directory."""
    return str(line).replace(f"{directory}/", "")


@contextmanager
def named_in_errors(directory: str) -> Iterator[None]:
    """Replace paths of files in a directory by names of networks in the lines of a `UserError`."""
    try:
        yield
    except UserError as error:
        lines = error.problems if isinstance(error, InvalidTaskError) else error.lines
        raise UserErrors(*(without_place(line, directory) for line in lines)) from error
