"""Reads and writes `fetched.json`, which says from which archive a task was downloaded.

During the download, the task's files are in `.fetching/TASK` in the directory of the tasks. Afterwards, `fetched.json`
is written beside the reference data, and the files are moved to their places.
"""

import hashlib
import json
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.format.files import MAX_JSON, read_json
from harness.reading import read_regular
from harness.text import printable

#: Name of the file beside a task's reference data that says from which archive the task was downloaded.
RECORD = "fetched.json"

#: Name of the directory for tasks during their download.
FETCHING = ".fetching"


@dataclass(frozen=True)
class FetchedFile:
    """Size and checksums of a file of an archive: bytes, CRC-32 (as in zip archives) and SHA-256 (hex)."""

    size: int
    crc32: int
    sha256: str

    @classmethod
    def of(cls, file: Path) -> "FetchedFile":
        """Return size and checksums of a JSON file."""
        content = read_regular(file, MAX_JSON, links=False)
        return cls(len(content), zlib.crc32(content), hashlib.sha256(content).hexdigest())


@dataclass(frozen=True)
class Fetched:
    """The content of `fetched.json`: the archive from which a task was downloaded, and the downloaded files."""

    source: str  #: the requested task, e.g. `pgdl2020/task8`
    url: str
    length: int  #: size of the archive in bytes
    etag: str | None  #: the server's tag of the archive's version; None if the server sent none
    directory_sha256: str  #: digest of the archive's list of members
    models: int  #: number of downloaded models
    models_in_archive: int  #: number of the task's models in the archive
    reference_sha256: str  #: digest of the written model_configs.json
    files: Mapping[str, FetchedFile]  #: path in the task's directory -> size and checksums

    @property
    def part(self) -> str | None:
        """A note on the number of downloaded models; None if all models were downloaded."""
        if self.models == self.models_in_archive:
            return None
        return f"a part of {self.source}: {self.models} of {self.models_in_archive} models"


def read_fetched(file: Path) -> Fetched | None:
    """Return the content of a `fetched.json`; None if the file is missing; raises `UserError` if it is invalid."""
    if not file.exists():
        return None
    content = read_json(file)
    try:
        files = {str(path): FetchedFile(**entry) for path, entry in content.pop("files").items()}
        fetched = Fetched(**content, files=files)
    except (TypeError, AttributeError, KeyError) as error:
        raise UserError("not a record of pgdl task fetch", file=file, found=printable(str(error))[:100]) from error
    numbers = (fetched.length, fetched.models, fetched.models_in_archive)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", str(fetched.source)) or not all(isinstance(one, int) for one in numbers):
        found = printable(f"{fetched.source!r}, {numbers}")[:200]
        raise UserError("source and numbers", file=file, expected="CORPUS/TASK, and integers", found=found)
    return fetched


def write_fetched(file: Path, fetched: Fetched) -> None:
    """Write a `fetched.json` atomically: even after a power cut, it is either complete or missing."""
    content: dict[str, Any] = asdict(fetched)
    temporary = file.with_name(f".{file.name}")
    with temporary.open("w", encoding="utf-8") as stream:
        json.dump(content, stream, indent=1)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)
