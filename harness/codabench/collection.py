"""Results that come back from the platform: verified, under their owners' names, in one database of records."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from inspect import signature
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from harness.codabench.results import RECORDS, RESULT, Result, read_result, read_sealed
from harness.codabench.seal import MAX_BYTES
from harness.credentials import Address
from harness.errors import UserError, UserErrors, writing
from harness.execution.plan import call_key
from harness.format.archive import names, open_archive, read_member
from harness.format.files import MAX_JSON
from harness.outcome import Outcome
from harness.reading import own_path
from harness.records import Evaluation, Records, Request, add_records, columns_of
from harness.submission.name import ALLOWED, is_name, taken

#: Name of the file as it is downloaded: its folder then names the submission.
DOWNLOADED = "prediction_result"

#: Columns of a record that its key consists of.
KEY_PARTS = tuple(signature(call_key).parameters)

#: Most bytes of the records of one submission.
MAX_RECORDS = 1024**3


@dataclass(frozen=True)
class Collected:
    """What became of the exports.

    Attributes:
        phase: name of their phase.
        tasks: names of its tasks.
        submissions: number of different submissions.
        calls: number of calls that were added.
        notes: lines on what was left out, and why.
    """

    phase: str
    tasks: Sequence[str]
    submissions: int
    calls: int
    notes: Sequence[str]


@dataclass(frozen=True)
class _Export:
    """One result, with its records under the name of their owner."""

    file: Path
    result: Result
    rows: Sequence[Evaluation]
    requests: Sequence[Request]

    @property
    def order(self) -> tuple[datetime, str]:
        """When the submission was run."""
        return min(request.requested_at for request in self.requests), str(self.file)

    @property
    def version(self) -> tuple[str, str]:
        """What tells it from others: the name, and the digest of the files."""
        return self.requests[0].submission, self.requests[0].submission_digest


def name_of(export: Path) -> str:
    """Return the name that a file or folder gives to its submission; raises `UserError` for one that cannot be one."""
    path = own_path(export)
    name = path.stem if path.is_file() else path.name
    if name == DOWNLOADED:
        name = path.parent.name
    if not is_name(name):
        raise UserError("cannot be the name of a submission", file=export, expected=ALLOWED, found=repr(name))
    if owner := taken(name):
        raise UserError(f"cannot be called {name!r}: {owner}", file=export, remedy="rename the file")
    return name


def collect(exports: Sequence[Path], key: bytes, results: Address) -> Collected:
    """Add the records of exports to a database, the earliest first.

    A call that was made twice, because the platform ran the same files twice for one name, counts once: the first
    record stays. What cannot be verified is left out, with a note.

    Raises:
        UserError: the exports are of several phases, or none can be used.
    """
    notes: list[str] = []
    found = [one for export in exports if (one := _read(export, key, notes)) is not None]
    if not found:
        raise UserErrors(*notes, "no export can be used")
    phases = {one.result.phase: one for one in found}
    if len(phases) > 1:
        first, second = list(phases.values())[:2]
        both = f"{first.result.phase_name!r} ({first.file}) and {second.result.phase_name!r} ({second.file})"
        remedy = "collect each phase into a database of its own; the same phase of a changed bundle is another one"
        raise UserError("of several phases", found=both, remedy=remedy)
    found.sort(key=lambda export: export.order)
    with Records(results) as records:
        added = _add(found, records, notes)
    different = {one.version for one in found}
    return Collected(found[0].result.phase_name, found[0].result.tasks, len(different), added, notes)


def _read(export: Path, key: bytes, notes: list[str]) -> _Export | None:
    try:
        name = name_of(export)
        with _unpacked(export, key) as directory:
            result = read_result(directory, key)
            if result.problem or not result.recorded:
                notes.append(f"{export}: left out: {result.problem or result.missing}")
                return None
            with Records(directory / RECORDS, read_only=True) as records:
                made = records.newest_of(only=[Evaluation.outcome != Outcome.INFRA_ERROR], long=True)
                rows = [_renamed(dict(row._mapping), name) for row in made]
                asked = {"submission": name, "source": str(export)}
                requests = [Request(**columns_of(request) | asked) for request in records.requests()]
    except UserError as error:
        notes.append(f"left out: {error}")
        return None
    if result.missing:
        notes.append(f"{export}: {result.missing}")
    return _Export(export, result, rows, requests)


@contextmanager
def _unpacked(export: Path, key: bytes) -> Iterator[Path]:
    """Yield a directory with the files of a result; of an archive, only those that the seal names are unpacked.

    A submission's own command may leave any others in it.
    """
    if export.is_dir():
        yield export
        return
    with tempfile.TemporaryDirectory() as temporary, open_archive(export) as archive:
        place, there = Path(temporary), set(names(archive))
        try:
            if RESULT in there:
                _unpack(archive, RESULT, place, MAX_BYTES)
            for name in there & read_sealed(place, key).files.keys():
                _unpack(archive, name, place, MAX_RECORDS if name == RECORDS else MAX_JSON)
            yield place
        except UserError as error:
            raise UserError(str(error).replace(f"{temporary}/", "")) from error


def _unpack(archive: ZipFile, name: str, place: Path, most: int) -> None:
    with writing(place / name):
        (place / name).write_bytes(read_member(archive, name, most))


def _add(exports: Sequence[_Export], records: Records, notes: list[str]) -> int:
    """Add the rows that are not there yet, of several of one call the first; returns their number."""
    keys = [row.key for one in exports for row in one.rows]
    values: dict[str, float | None] = {row.key: row.value for row in records.newest(keys)}
    chosen = []
    for one in exports:
        new = [row for row in one.rows if row.key not in values]
        if different := sum(values.get(row.key, row.value) != row.value for row in one.rows):
            notes.append(f"{one.file}: {different} calls had other values when they were made again; the first count")
        values |= {row.key: row.value for row in new}
        chosen += new
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary, RECORDS)
        with Records(file) as renamed:
            renamed.add(*chosen)
            renamed.ask(request for one in exports for request in one.requests)
        return add_records(records, file)


def _renamed(row: Mapping[str, Any], name: str) -> Evaluation:
    """Return a record under another name, with the key that `pgdl run` gives to such a call."""
    columns = {column: value for column, value in row.items() if column != "id"} | {"submission": name}
    key = call_key(**{part: columns[part] for part in KEY_PARTS})
    return Evaluation(**columns | {"key": key})
