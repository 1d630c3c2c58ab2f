"""The parts of a built task: its data and its models. Each part is a directory with a record for its verification.

The record of the data is `{"digest": DIGEST}`; the record of a model says how it was trained, and has a `digest`, too.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.errors import writing
from harness.format.layout import MODEL_FILES, TRAIN, model_name
from harness.task.digests import Digests

#: Names of directories of an unfinished task; suffix of directories that are being written.
DATA, CELLS, RECORDS, UNFINISHED = "data", "cell_{}", "records", ".unfinished"


def part_names(part: str) -> tuple[str, str]:
    """Return the names of a part's directory in an unfinished and in a finished task.

    `part` is `data`, or the number of a cell; "*" is any cell.
    """
    return (DATA, TRAIN.parts[0]) if part == DATA else (CELLS.format(part), model_name(part))


def find_part(task: Path, part: str) -> Path | None:
    """Return the directory of a part of the task in the directory `task`; None if the part is missing."""
    return next((path for name in part_names(part) if (path := task / name).exists()), None)


def part_digest(directory: Path, digests: Digests) -> str:
    """Return the digest of the part in `directory`, over the names and contents of its files.

    If the part is a model, the digest equals `Model.digest`. A missing file changes the digest. Raise `OSError`, or
    `UserError` if a file is no regular file.
    """
    files = [*(directory / name for name in MODEL_FILES), *sorted(directory.glob("*/shard_*"))]
    return digests.of_model(files)


def find_damaged(task: Path, parts: Iterable[str], records: Mapping[str, Mapping[str, Any]]) -> dict[str, Path]:
    """Return name -> directory of the parts whose files are not as they were written, or that have no record.

    `records` has the records of parts. A record without digest, from an earlier version of the harness, is not compared
    with files. Raise `UserError` if files cannot be read.
    """
    found = {part: directory for part in parts if (directory := find_part(task, part))}
    with writing(task, problem="cannot be read"), Digests(task) as digests:
        current = {part: part_digest(directory, digests) for part, directory in found.items()}
    return {
        part if part == DATA else model_name(part): directory
        for part, directory in found.items()
        if part not in records or records[part].get("digest", current[part]) != current[part]
    }


def write_record(task: Path, part: str, record: dict[str, Any]) -> None:
    """Write the record of a part of an unfinished task."""
    file = _record_file(task, part)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(json.dumps(record).encode())


def read_record(task: Path, part: str) -> Any:
    """Return the record of a part of an unfinished task; None if it is missing or, after a power cut, incomplete."""
    return read_written(_record_file(task, part))


def read_written(file: Path) -> Any:
    """Return the content of a JSON file of a build; None if the file is missing or incomplete."""
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None


def _record_file(task: Path, part: str) -> Path:
    return task / RECORDS / f"{part}.json"
