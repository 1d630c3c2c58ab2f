"""A task while it is fetched: finished files, kept over interruptions, and their move to where the task belongs."""

import json
import os
import shutil
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from harness.digest import digest_of
from harness.errors import UserError
from harness.fetch.listing import ListedFile
from harness.format.fetched import FETCHING, RECORD, Fetched, FetchedFile, read_fetched, write_fetched
from harness.format.files import MAX_JSON, read_json
from harness.format.layout import INPUTS, REFERENCE, REFERENCES, model_name
from harness.format.reference import write_reference
from harness.reading import read_text
from harness.task.incomplete import FetchRequest
from harness.text import size

#: Names in the directory of a task that is fetched: its files, the list of the finished ones, its reference data.
FILES, JOURNAL, CHOSEN = "files", "journal", "chosen_" + REFERENCE


class StagedTask:
    """The task `name` below the directory of the tasks, while it is fetched and afterwards; `source` is CORPUS/TASK."""

    def __init__(self, root: Path, name: str, source: str = "") -> None:
        self.root, self.name, self.source = root, name, source
        self._directory = root / FETCHING / name
        self.inputs, self.references = root / INPUTS / name, root / REFERENCES / name
        self.finished = self._read_journal()

    @property
    def record(self) -> Fetched | None:
        """Where the task at its place comes from; None if there is none. Raises `UserError`."""
        return read_fetched(self.references / RECORD)

    def present(self, record: Fetched) -> dict[str, FetchedFile]:
        """Return the fetched files that are at their places; others were removed, or cut off, since."""
        return {path: file for path, file in record.files.items() if _has_size(self.inputs / path, file.size)}

    @property
    def has_reference(self) -> bool:
        """Whether the task's reference data are at their place."""
        return (self.references / REFERENCE).is_file()

    def is_whole(self, record: Fetched) -> bool:
        """Whether all files that were fetched are at their places."""
        return self.has_reference and len(self.present(record)) == len(record.files)

    @property
    def kept(self) -> list[str]:
        """The finished files, but for the reference data, that are not at the task's place."""
        return [path for path in self.finished if path != REFERENCE and self.place(path).is_file()]

    def begin(self, request: FetchRequest) -> None:
        """Mark the task as half-fetched, with what was asked for."""
        (self._directory / FILES).mkdir(parents=True, exist_ok=True)
        request.write(self._directory)

    def place(self, path: str) -> Path:
        """Return where a file is while the task is fetched."""
        return self._directory / FILES / path

    def has(self, member: ListedFile) -> bool:
        """Whether a file has been fetched, and is that of the archive."""
        known, place = self.finished.get(member.path), self.place(member.path)
        same = known is not None and (known.size, known.crc32) == (member.entry.file_size, member.entry.CRC)
        return same and _has_size(place, member.entry.file_size)

    def add(self, path: str, file: FetchedFile) -> None:
        """Note that a file has been fetched."""
        self.finished[path] = file
        with (self._directory / JOURNAL).open("a", encoding="utf-8") as journal:
            journal.write(json.dumps({"path": path, **asdict(file)}) + "\n")

    def choose(self, models: Collection[str]) -> str:
        """Write the reference data of some models; returns their SHA-256. Those of all models stay as they are."""
        source, chosen = self.place(REFERENCE), self._directory / CHOSEN
        content = read_json(source)
        some = {model: entry for model, entry in content.items() if model_name(model) in models}
        if len(some) == len(content):
            shutil.copyfile(source, chosen)
        else:
            write_reference(chosen, some)
        return FetchedFile.of(chosen).sha256

    def install(self, record: Fetched) -> None:
        """Move the files to where the task belongs. The record is written first: an interrupted move is continued."""
        write_fetched(self._directory / RECORD, record)
        self.finish()

    def finish(self) -> None:
        """Continue a move that was interrupted; does nothing if there is none.

        Of a part of a task, finished files of other models stay where they are, for a command that asks for these.
        """
        if not (self._directory / RECORD).exists():
            return
        record = read_fetched(self._directory / RECORD)
        assert record is not None
        self.references.mkdir(parents=True, exist_ok=True)
        for path in record.files:  # what else was fetched, perhaps of an earlier archive, is not of the task
            if self.place(path).is_file():
                (self.inputs / path).parent.mkdir(parents=True, exist_ok=True)
                self.place(path).replace(self.inputs / path)
        if (self._directory / CHOSEN).exists():
            (self._directory / CHOSEN).replace(self.references / REFERENCE)
        write_fetched(self.references / RECORD, record)
        if record.part is not None and self.kept:
            (self._directory / RECORD).unlink()
        else:
            shutil.rmtree(self._directory)

    def _read_journal(self) -> dict[str, FetchedFile]:
        """Return the finished files; a line that was cut off does not count."""
        found = {}
        journal = self._directory / JOURNAL
        for line in read_text(journal, MAX_JSON).splitlines() if os.path.lexists(journal) else ():
            try:
                entry = json.loads(line)
                found[entry["path"]] = FetchedFile(entry["size"], entry["crc32"], entry["sha256"])
            except (ValueError, TypeError, KeyError):
                continue
        return found


def _has_size(file: Path, n_bytes: int) -> bool:
    return file.is_file() and file.stat().st_size == n_bytes


def digest_of_task(record: Fetched) -> str:
    """Return the SHA-256 over the files of a task, in the order of their paths."""
    files = {path: file.sha256 for path, file in record.files.items()} | {REFERENCE: record.reference_sha256}
    return digest_of((path, digest.encode()) for path, digest in sorted(files.items()))


def require_space(root: Path, needed: int) -> None:
    """Raise `UserError` unless so many bytes are free where a directory is."""
    free = free_bytes(root)
    if needed > free:
        expected, found = f"{size(needed)} of free disk space", size(free)
        remedy = "free some, fetch fewer with --models, or name another directory with --tasks"
        raise UserError("disk too small", file=root, expected=expected, found=found, remedy=remedy)


def free_bytes(directory: Path) -> int:
    """Return the free space where a directory is."""
    return shutil.disk_usage(directory).free
