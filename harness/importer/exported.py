"""Translates the `.pt2` files (networks of PyTorch) that a table names, in a process with limited memory."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.errors import UserError
from harness.format.archive import MAX_MEMBERS as KERAS_MEMBERS
from harness.format.archive import open_archive
from harness.format.problems import Problems
from harness.importer.table import ImportedRow
from harness.processes import NoAnswerError, Process
from harness.processes.runtimes import QUICKEST, installed_runtime
from harness.reading import is_missing, open_regular
from harness.torch_import.pt2 import MAX_MEMBERS, is_pt2
from harness.torch_import.translating import INITIAL, MODEL, WEIGHTS

#: Time limit in seconds for the translation of a network.
SECONDS = 600.0

_ZIP = b"PK"


def translated_rows(rows: Sequence[ImportedRow], place: Path) -> list[ImportedRow]:
    """Translate the rows' `.pt2` files into `place`, and return rows with the new paths; failures raise `UserError`."""
    problems = Problems()
    found = [problems.attempt(is_exported, row.file) for row in rows]
    if any(found):
        with Process("harness.torch_import.translating", installed_runtime(QUICKEST), gpu=False) as process:
            rows = [problems.attempt(_translated, row, place / str(number), process) or row if found[number] else row
                    for number, row in enumerate(rows)]  # fmt: skip
    problems.raise_if_any()
    return list(rows)


def is_exported(path: Path) -> bool:
    """Whether `torch.export.save` wrote a file; False if it is missing; raises `UserError` for a damaged zip."""
    if is_missing(path):
        return False
    with open_regular(path, links=True) as stream:
        if stream.read(len(_ZIP)) != _ZIP:
            return False
    with open_archive(path, KERAS_MEMBERS if path.suffix == ".keras" else MAX_MEMBERS) as archive:
        return is_pt2(archive)


def _translated(row: ImportedRow, place: Path, process: Process) -> ImportedRow:
    place.mkdir()
    files = {"file": str(row.file.absolute()), "initial": row.initial and str(row.initial.absolute())}
    try:
        process.ask(files | {"directory": str(place)}, seconds=SECONDS)
    except NoAnswerError as error:
        reason = str(error).replace(str(row.file.absolute()), str(row.file))
        raise UserError(reason if str(row.file) in reason else f"{row.file}: {reason}") from error
    initial = place / INITIAL if row.initial else None
    return replace(row, file=place / MODEL, weights=place / WEIGHTS, initial=initial, exported=row.file)
