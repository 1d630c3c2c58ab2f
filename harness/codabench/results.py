"""The output of the ingestion program: a file that says how the calls ended, records, and `TASK.predict` files.

The output may be forged, because the platform runs a submission's own command beside the ingestion program. So
`harness.codabench.collection` makes some calls again.
"""

import os
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import UserError, writing
from harness.reading import read_regular

RESULT, RECORDS = "result.json", "records.db"  #: names of the file that says how the calls ended, and of the records
MAX_BYTES = 64 * 1024  #: maximum size of the file that says how the calls ended

#: Texts that say how the calls ended. An intermediate result says `KILLED`, until the final result replaces it.
KILLED = "the container was killed"
OUT_OF_TIME = "the container's time ran out"
MADE = "the machine failed at some calls"


class PhaseResult(BaseModel):
    """The content of the file that says how the calls ended."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    problem: str = ""  #: why no call could be made; empty if calls were made
    ended: str = KILLED
    notes: tuple[str, ...] = ()  #: notes on the submission's files


def write_result(directory: Path, result: PhaseResult, files: Mapping[str, Path | bytes]) -> None:
    """Write a result and further `files` (name -> content or path) to a directory; replace existing files."""
    for name, content in files.items():
        _replace(directory / name, content if isinstance(content, bytes) else content.read_bytes())
    _replace(directory / RESULT, result.model_dump_json(indent=1).encode() + b"\n")


def read_result(directory: Path) -> PhaseResult:
    """Read the file that says how the calls ended. Raise `UserError` if it is missing or invalid."""
    file = directory / RESULT
    if not os.path.lexists(file):
        raise UserError("no result of the ingestion program", file=file, remedy="the submission may have removed it")
    try:
        return PhaseResult.model_validate_json(read_regular(file, MAX_BYTES, links=False))
    except ValidationError as error:
        raise UserError("not a result of the ingestion program", file=file) from error


def copy_records(database: Path, target: Path) -> None:
    """Copy an SQLite database to the single file `target`, even while it is in use. Raise `UserError` on failure."""
    with writing(target):
        target.unlink(missing_ok=True)
        try:
            with closing(sqlite3.connect(database)) as connection:
                connection.execute("vacuum into ?", (str(target),))
        except sqlite3.Error as error:
            raise UserError(f"cannot be copied: {error}", file=database) from error


def _replace(path: Path, data: bytes) -> None:
    """Write a file atomically, even if a submission has left a directory or link at `path`."""
    with writing(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        temporary = path.with_name(f".{path.name}.new")
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        temporary.replace(path)
