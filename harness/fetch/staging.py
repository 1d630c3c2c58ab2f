"""Stages a task during its download: plans and keeps the files, and moves them to their place when all are there."""

import json
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.credentials import Address
from harness.digest import digest_of
from harness.errors import UserError
from harness.fetch.listing import ListedFile
from harness.format.fetched import FETCHING, RECORD, Fetched, FetchedFile, read_fetched, write_fetched
from harness.format.files import MAX_JSON, natural, read_json
from harness.format.layout import INPUTS, REFERENCE, REFERENCES, WEIGHTS, model_name
from harness.format.reference import write_reference
from harness.hints import did_you_mean
from harness.names import as_names
from harness.reading import read_text
from harness.task.selection import ModelSelection, evenly
from harness.text import size

#: Names in the directory of a download: files, list of finished files, reference data of the chosen models.
FILES, JOURNAL, CHOSEN = "files", "journal", "chosen_" + REFERENCE


class StagedTask:
    """A task during and after its download. `name` is the name of the task, `source` is CORPUS/TASK.

    During the download, its files are in a temporary (staging) directory below `FETCHING`. Afterwards they are at their
    place in input_data/ and reference_data/ below `root`.
    """

    def __init__(self, root: Path, name: str, source: str = "") -> None:
        self.root, self.name, self.source = root, name, source
        self._directory = root / FETCHING / name
        self.inputs, self.references = root / INPUTS / name, root / REFERENCES / name
        self.finished = self._read_journal()

    @property
    def record(self) -> Fetched | None:
        """The task's `fetched.json`; None if the task was not downloaded; raises `UserError` if it is invalid."""
        return read_fetched(self.references / RECORD)

    def present(self, record: Fetched) -> dict[str, FetchedFile]:
        """Return path -> file, for the files of a `fetched.json` that are at their place in full size."""
        return {path: file for path, file in record.files.items() if _has_size(self.inputs / path, file.size)}

    @property
    def has_reference(self) -> bool:
        """Whether the task's reference data are at their place."""
        return (self.references / REFERENCE).is_file()

    def is_whole(self, record: Fetched) -> bool:
        """Whether all files of a `fetched.json`, and the reference data, are at their place."""
        return self.has_reference and len(self.present(record)) == len(record.files)

    @property
    def kept(self) -> list[str]:
        """Paths of the finished files in the temporary directory, without the reference data."""
        return [path for path in self.finished if path != REFERENCE and self.staged_path(path).is_file()]

    def begin(self) -> None:
        """Create the temporary directory, which marks the task as half-fetched."""
        (self._directory / FILES).mkdir(parents=True, exist_ok=True)

    def staged_path(self, path: str) -> Path:
        """Return the path of a file in the temporary directory."""
        return self._directory / FILES / path

    def has(self, member: ListedFile) -> bool:
        """Whether a member of the archive is in the temporary directory, with the right size and checksum."""
        known, place = self.finished.get(member.path), self.staged_path(member.path)
        same = known is not None and (known.size, known.crc32) == (member.entry.file_size, member.entry.CRC)
        return same and _has_size(place, member.entry.file_size)

    def add(self, path: str, file: FetchedFile) -> None:
        """Add a file to the list of finished files."""
        self.finished[path] = file
        with (self._directory / JOURNAL).open("a", encoding="utf-8") as journal:
            journal.write(json.dumps({"path": path, **asdict(file)}) + "\n")

    def choose(self, models: Collection[str]) -> str:
        """Write the reference data of `models` to the file `CHOSEN`, and return its SHA-256."""
        source, chosen = self.staged_path(REFERENCE), self._directory / CHOSEN
        content = read_json(source)
        some = {model: entry for model, entry in content.items() if model_name(model) in models}
        if len(some) == len(content):
            shutil.copyfile(source, chosen)
        else:
            write_reference(chosen, some)
        return FetchedFile.of(chosen).sha256

    def install(self, record: Fetched) -> None:
        """Write `fetched.json`, then move the files to their place. After an interruption, `finish` continues."""
        write_fetched(self._directory / RECORD, record)
        self.finish()

    def finish(self) -> None:
        """If the download is complete, move the files to their place. Call this again after an interruption.

        Finished files that are not part of the task stay for a later command.
        """
        if not (self._directory / RECORD).exists():
            return
        record = read_fetched(self._directory / RECORD)
        assert record is not None
        self.references.mkdir(parents=True, exist_ok=True)
        for path in record.files:  # other files, perhaps of an earlier archive, do not belong to the task
            if self.staged_path(path).is_file():
                (self.inputs / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.move(self.staged_path(path), self.inputs / path)  # perhaps to another disk
        if (self._directory / CHOSEN).exists():
            shutil.move(self._directory / CHOSEN, self.references / REFERENCE)
        write_fetched(self.references / RECORD, record)
        if record.part is not None and self.kept:
            (self._directory / RECORD).unlink()
        else:
            shutil.rmtree(self._directory)

    def _read_journal(self) -> dict[str, FetchedFile]:
        """Return path -> finished file, from the list of finished files; an incomplete line is ignored."""
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
    """Return the SHA-256 over paths and digests of a task's files, sorted by path."""
    files = {path: file.sha256 for path, file in record.files.items()} | {REFERENCE: record.reference_sha256}
    return digest_of((path, digest.encode()) for path, digest in sorted(files.items()))


def require_space(root: Path, needed: int) -> None:
    """Raise `UserError` unless the disk of a directory has `needed` free bytes."""
    free = shutil.disk_usage(root).free
    if needed > free:
        expected, found = f"{size(needed)} of free disk space", size(free)
        remedy = "free some, fetch fewer with --models, or name another directory with --tasks"
        raise UserError("disk too small", file=root, expected=expected, found=found, remedy=remedy)


@dataclass(frozen=True)
class TaskPlan:
    """The files of a task that is to be downloaded, and which of them are missing."""

    staging: StagedTask
    chosen: Sequence[str]  #: ids of all models that the task will have
    models_in_archive: int  #: number of the task's models in the archive
    members: Sequence[ListedFile]  #: all files that the task will have
    present: Mapping[str, FetchedFile]  #: path -> file that is already at the task's place
    missing: Sequence[ListedFile]  #: files to download
    is_done: bool  #: whether the task is complete, with all wanted models

    @property
    def bytes(self) -> int:
        """Size of the missing files in bytes, when unpacked."""
        return sum(member.entry.file_size for member in self.missing)


def plan_task(members: Mapping[str, ListedFile], staging: StagedTask, wanted: ModelSelection, url: Address) -> TaskPlan:
    """Plan the download of a task; `members` are its files in the archive, by path.

    Raises `UserError` if a model is unknown, or if files already there have another origin or differ from the archive.
    """
    record = staging.record
    if record is None and staging.inputs.exists():
        remedy = "remove it, or name another directory with --tasks"
        raise UserError("exists already", file=staging.inputs, found="a task that was not fetched", remedy=remedy)
    present = staging.present(record) if record else {}
    _require_same(record, members, url)
    models = sorted({member.model for member in members.values() if member.model}, key=natural)
    here = {path.partition("/")[0] for path in present} & set(models)
    chosen = _choose(staging.name, models, members, wanted, here)
    files = [member for member in members.values() if member.model is None or member.model in chosen]
    is_done = staging.has_reference and all(m.path in present for m in files if m.path != REFERENCE)
    missing = [] if is_done else [m for m in files if m.path not in present and not staging.has(m)]
    return TaskPlan(staging, chosen, len(models), files, present, missing, is_done)


def _choose(
    name: str, models: Sequence[str], members: Mapping[str, ListedFile], wanted: ModelSelection, here: set[str]
) -> Sequence[str]:
    """Return the ids of the task's models after the download: models `here`, and models that `wanted` requests."""
    if wanted is None:
        return models
    if not isinstance(wanted, int):
        names = as_names(wanted)
        for unknown in (model for model in names if model not in models):
            hint = did_you_mean(unknown, models)
            raise UserError(f"--models: no model {unknown!r} in {name}", expected=f"some of {len(models)}", remedy=hint)
        return [model for model in models if model in names or model in here]
    ordered = sorted(models, key=lambda model: (members[f"{model}/{WEIGHTS}"].entry.file_size, natural(model)))
    others = [model for model in evenly(ordered, wanted) if model not in here]
    added = evenly(others, max(wanted - len(here), 0))
    return [model for model in models if model in here or model in added]


def _require_same(record: Fetched | None, members: Mapping[str, ListedFile], url: Address) -> None:
    for path, file in record.files.items() if record else ():
        entry = members[path].entry if path in members else None
        if entry is None or (entry.file_size, entry.CRC) != (file.size, file.crc32):
            found = f"{entry.file_size} bytes, CRC-32 {entry.CRC:08x}" if entry else "no such member"
            expected = f"{file.size} bytes, CRC-32 {file.crc32:08x} as fetched before"
            remedy = "compare both with the sizes that the corpus' owner announced"
            raise UserError(f"another {path}", file=url, expected=expected, found=found, remedy=remedy)
