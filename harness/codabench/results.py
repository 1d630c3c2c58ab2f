"""The output of the ingestion program, which is the input of the scoring program, and what an organiser downloads."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.codabench.seal import MAX_BYTES, competition_of, opened, sealed
from harness.codabench.settings import Settings
from harness.errors import UserError, writing
from harness.reading import open_regular, read_regular
from harness.sqlite import beside

#: The sealed file, and the records; the others are `TASK.predict`.
RESULT, RECORDS = "result.json", "records.db"

#: How calls ended; the first is written in between, in case that it comes true.
KILLED = "the container was killed"
OUT_OF_TIME = "the container's time ran out"
MADE = "the machine failed at some calls"


class Result(BaseModel):
    """The sealed file.

    Attributes:
        competition, phase: those of `Settings`.
        phase_name: name of the phase, for readers.
        tasks: names of its tasks.
        problem: why there are no records; empty if there are.
        planned: number of calls of the phase.
        recorded: number of them that have a record which says something of the submission.
        ended: how the calls ended, in words.
        files: name -> SHA-256 of the other files.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    competition: str
    phase: str
    phase_name: str
    tasks: list[str]
    problem: str = ""
    planned: int
    recorded: int = 0
    ended: str = KILLED
    files: dict[str, str] = {}

    @property
    def missing(self) -> str:
        """What is missing, in a sentence; empty if nothing is."""
        if self.recorded == self.planned:
            return ""
        return f"{self.ended}: {self.recorded} of {self.planned} calls were made, and the others have no value."


def write_result(directory: Path, result: Result, key: bytes, files: Mapping[str, Path | bytes]) -> None:
    """Write a result in place of whatever has its files' names; the sealed file comes last."""
    digests = {}
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.read_bytes()
        digests[name] = hashlib.sha256(data).hexdigest()
        _replace(directory / name, data)
    whole = result.model_copy(update={"files": digests})
    _replace(directory / RESULT, sealed(whole.model_dump(), key))


def read_sealed(directory: Path, key: bytes) -> Result:
    """Read the sealed file of a result, which names the others; raises `UserError`."""
    file = directory / RESULT
    if not os.path.lexists(file):
        remedy = "the log of the ingestion program says why"
        raise UserError("no result of the ingestion program", file=file, remedy=remedy)
    try:
        return Result.model_validate(opened(read_regular(file, MAX_BYTES, links=False), key, file))
    except ValidationError as error:
        raise UserError("a result of another version of pgdl", file=file) from error


def read_result(directory: Path, key: bytes) -> Result:
    """Read a result, and check that it and its files are as they were written; raises `UserError`."""
    result = read_sealed(directory, key)
    for name, digest in result.files.items():
        path = directory / name
        found = _digest_of(path) if os.path.lexists(path) else "no file"
        if found != digest:
            raise UserError(
                "changed after the ingestion program wrote it", file=path, expected=digest[:12], found=found[:12]
            )
    for path in beside(directory / RECORDS):
        if os.path.lexists(path):
            found = "a file that SQLite would apply to the records"
            raise UserError("changed after the ingestion program wrote it", file=path, found=found)
    return result


def result_of(settings: Settings, key: bytes) -> Result:
    """Return the result of a phase before any call."""
    planned = sum(len(task.models) for task in settings.tasks.values())
    return Result(
        competition=competition_of(key), phase=settings.id, phase_name=settings.name, tasks=sorted(settings.tasks),
        planned=planned,
    )  # fmt: skip


def require_phase(result: Result, settings: Settings, file: Path) -> None:
    """Raise `UserError` unless a result is one of this phase, with these settings."""
    if result.phase != settings.id:
        expected = f"a result of the phase {settings.name!r} as it is now"
        raise UserError(
            "a result of other settings", file=file, expected=expected, found=f"phase {result.phase_name!r}"
        )


def require_digests(rows: Iterable[Any], settings: Settings, file: Path) -> None:
    """Raise `UserError` for a record of other models or data: input data could be changed while calls were made."""
    for row in rows:
        task = settings.tasks[row.task]
        if (task.models.get(row.model), task.data) != (row.model_digest, row.data_digest):
            raise UserError(f"{row.task}: calls on other models or data than those of the phase", file=file)


def copy_records(database: Path, target: Path) -> None:
    """Copy a database that is in use, as one file without a journal."""
    with writing(target):
        target.unlink(missing_ok=True)
        try:
            with closing(sqlite3.connect(database)) as connection:
                connection.execute("vacuum into ?", (str(target),))
        except sqlite3.Error as error:
            raise UserError(f"cannot be copied: {error}", file=database) from error


def _digest_of(path: Path) -> str:
    with open_regular(path, links=False) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _replace(path: Path, data: bytes) -> None:
    """Write a file at once; a directory or link of that name, which a submission may have left, makes room."""
    with writing(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        temporary = path.with_name(f".{path.name}.new")
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        temporary.replace(path)
