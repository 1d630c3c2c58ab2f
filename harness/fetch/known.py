"""What of the known corpora is here."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.fetch.catalogue import Archive, Corpus, KnownTask
from harness.fetch.staging import StagedTask
from harness.task.incomplete import half_fetched


@dataclass(frozen=True)
class KnownHere:
    """A task of a corpus, and what of it is in a directory.

    `here` is `whole`, `half-fetched`, `files missing`, says how many models a part has, or that another task has the
    name; None for nothing.
    """

    corpus: Corpus
    archive: Archive
    task: KnownTask
    here: str | None


def known_here(corpora: Iterable[Corpus], root: Path) -> Iterator[KnownHere]:
    """Yield all tasks of some corpora; raises `UserError` for an invalid record in the directory `root`."""
    half = half_fetched(root)
    for corpus in corpora:
        for archive, task in corpus.entries():
            source = f"{corpus.name}/{task.name}"
            yield KnownHere(corpus, archive, task, _here(StagedTask(root, task.name), source, task.name in half))


def _here(staging: StagedTask, source: str, is_half: bool) -> str | None:
    if is_half:
        return "half-fetched"
    record = staging.record
    if record is None or record.source != source:
        return "another task of this name" if staging.inputs.exists() else None
    if not staging.is_whole(record):
        return "files missing"
    return "whole" if record.part is None else f"{record.models} of {record.models_in_archive} models"
