"""Checks at the start of a command that its files can be written at the end, perhaps hours later."""

import tempfile
from pathlib import Path

from harness.errors import UserError
from harness.format.files import make_directory


def prepare_directory(directory: Path | None) -> None:
    """Create a directory for files, unless it exists. Raise `UserError` if no file can be written there."""
    if directory is None:
        return
    make_directory(directory)
    try:
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror}", file=directory) from error


def prepare_site(directory: Path | None) -> None:
    """Create a directory for a site. Raise `UserError` if it has other files, or cannot be written."""
    from harness.site import require_replaceable  # here: it imports the library of templates

    if directory is not None:
        require_replaceable(directory)
        prepare_directory(directory)
