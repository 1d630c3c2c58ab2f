"""Reads the package's catalogues, a TOML file for each corpus; tells how much of each task a directory has."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, PlainValidator

from harness.credentials import Address
from harness.errors import UserError
from harness.fetch.listing import MAX_ARCHIVE
from harness.fetch.staging import StagedTask
from harness.hints import did_you_mean
from harness.task.layout import half_fetched
from harness.toml import Section, checked, read_toml

_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
_DIGEST = r"^[0-9a-f]{64}$"

#: Directory of the catalogues.
CATALOGUES = Path(__file__).parent / "corpora"

#: Text in place of a digest or size that a catalogue does not have.
UNKNOWN = "not yet known"


class KnownTask(Section):
    """One task of an archive."""

    name: str = Field(pattern=_NAME, description="Name of its directory.")
    about: str = Field("", max_length=200, description="Networks and data, as a text for users.")
    models: int | None = Field(None, ge=1, description="Number of its models, if that is known.")
    sha256: str | None = Field(None, pattern=_DIGEST, description="Digest of all of its files, if that is known.")


class Archive(Section):
    """One zip archive on a server."""

    phase: str = Field(pattern=_NAME, description="Name for all tasks of the archive together.")
    url: Annotated[Address, PlainValidator(lambda text: Address(text, "url"))] = Field(description="Address.")
    bytes: int = Field(ge=1, le=MAX_ARCHIVE, description="Size, which may be rounded.")
    sha256: str | None = Field(None, pattern=_DIGEST, description="Digest of the zip's file list, if that is known.")
    tasks: list[KnownTask] = Field(min_length=1)


class Corpus(Section):
    """A published set of tasks."""

    name: str = Field(pattern=_NAME)
    title: str = Field(max_length=200)
    licence: str = Field(max_length=200)
    citation: str = Field(max_length=200)
    archives: list[Archive] = Field(min_length=1)

    def entries(self) -> Iterator[tuple[Archive, KnownTask]]:
        """Yield each task of the corpus, with its archive."""
        for archive in self.archives:
            for task in archive.tasks:
                yield archive, task


@dataclass(frozen=True)
class WantedTasks:
    """The requested tasks of an archive."""

    corpus: Corpus
    archive: Archive
    tasks: tuple[KnownTask, ...]


def corpora() -> dict[str, Corpus]:
    """Return name -> corpus, for all corpora that `fetch_corpus` can download."""
    return {corpus.name: corpus for corpus in map(read_corpus, sorted(CATALOGUES.glob("*.toml")))}


def read_corpus(file: Path) -> Corpus:
    """Return the corpus that a catalogue describes; raises `UserError` with all problems of the file."""
    content, _ = read_toml(file)
    return checked(Corpus, content, "", file)


def find_wanted(text: str, known: dict[str, Corpus]) -> list[WantedTasks]:
    """Return the tasks that `text` (CORPUS, CORPUS/TASK or CORPUS/PHASE) means; raises `UserError` if none match."""
    name, _, part = text.partition("/")
    if name not in known:
        hint = did_you_mean(name, known) or "pgdl task known lists the corpora"
        raise UserError(f"no corpus {name!r}", expected=f"one of {', '.join(known)}, or an address", remedy=hint)
    corpus = known[name]
    found = [
        WantedTasks(corpus, archive, tasks)
        for archive in corpus.archives
        if (tasks := tuple(task for task in archive.tasks if part in ("", task.name, archive.phase)))
    ]
    if not found:
        parts = [one for archive, task in corpus.entries() for one in (archive.phase, task.name)]
        names = ", ".join(dict.fromkeys(parts))
        raise UserError(f"{name}: no task or phase {part!r}", expected=names, remedy=did_you_mean(part, parts))
    return found


@dataclass(frozen=True)
class KnownHere:
    """A task of a corpus, and how much of the task a directory has."""

    corpus: Corpus
    archive: Archive
    task: KnownTask
    here: str | None  #: such as `whole`, `half-fetched` or `3 of 8 models`; None if nothing is there


def known_here(known: Iterable[Corpus], root: Path) -> Iterator[KnownHere]:
    """Yield each task of `known`, and how much of it `root` has; raises `UserError` if a fetched.json is invalid."""
    half = half_fetched(root)
    for corpus in known:
        for archive, task in corpus.entries():
            source = f"{corpus.name}/{task.name}"
            yield KnownHere(corpus, archive, task, _state_here(StagedTask(root, task.name), source, task.name in half))


def _state_here(staging: StagedTask, source: str, is_half: bool) -> str | None:
    if is_half:
        return "half-fetched"
    record = staging.record
    if record is None or record.source != source:
        return "another task of this name" if staging.inputs.exists() else None
    if not staging.is_whole(record):
        return "files missing"
    return "whole" if record.part is None else f"{record.models} of {record.models_in_archive} models"
