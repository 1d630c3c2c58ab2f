"""Downloads tasks of a known corpus. Files that are already there are not downloaded again."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from harness.directory_lock import locked_directory
from harness.errors import UserError, writing
from harness.fetch.catalogue import UNKNOWN, KnownTask, WantedTasks, corpora, find_wanted
from harness.fetch.listing import Listing, read_listing
from harness.fetch.remote import RemoteFile, find_remote
from harness.fetch.staging import StagedTask, TaskPlan, digest_of_task, plan_task, require_space
from harness.fetch.transfer import transfer
from harness.format.fetched import FETCHING, Fetched
from harness.format.layout import REFERENCE
from harness.task import DEFAULT_DIRECTORY
from harness.task.layout import require_no_flat_tasks
from harness.task.selection import ModelSelection, require_some

#: File in `FETCHING` that a command locks while it downloads into the directory.
LOCK = "lock"

_KEPT = "finished files are kept"


class Watcher:
    """Receives the progress of a download. This class ignores the progress; subclasses show it."""

    def begin(self, total: int) -> None:
        """Note that a download of `total` bytes begins."""

    def seen(self, number: int) -> None:
        """Note that `number` more bytes have arrived. Any thread may call this."""

    def note(self, line: str) -> None:
        """Show a line to the user."""


@dataclass(frozen=True)
class FetchedTask:
    """A task that is complete; `is_new` is False if nothing had to be downloaded."""

    name: str
    directory: Path
    record: Fetched
    is_new: bool


def fetch_corpus(
    name: str,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    *,
    models: ModelSelection = None,
    watcher: Watcher = Watcher(),  # noqa: B008 - it has no state
) -> list[FetchedTask]:
    """Download the tasks that `name` requests, and return them. The same call continues an interrupted download.

    Raises `UserError` if a corpus or task is unknown, or a task cannot be downloaded; finished files are kept.

    Args:
        name: CORPUS, CORPUS/TASK or CORPUS/PHASE.
        tasks_dir: directory of the tasks.
        models: number or names of the models of each task; None: all. A number selects models evenly by file size.
        watcher: receives the progress.
    """
    require_some(models)
    wanted, root = find_wanted(name, corpora()), Path(tasks_dir)
    with locked_directory(root, root / FETCHING / LOCK, "pgdl task fetch"):
        tasks = [
            (one, task, StagedTask(root, task.name, f"{one.corpus.name}/{task.name}"))
            for one in wanted for task in one.tasks
        ]  # fmt: skip
        for _, _, staging in tasks:
            with writing(staging.inputs, remedy=_KEPT):
                staging.finish()
        require_no_flat_tasks(root)
        sources = {one.archive.phase: _find_source(one) for one in wanted}
        plans = []
        for one, task, staging in tasks:
            source = sources[one.archive.phase]
            plans.append((source, task, _plan(source, task, staging, models)))
        used = {source.file.url for source, _, plan in plans if not plan.is_done}
        _note_versions([source for source in sources.values() if source.file.url in used], watcher)
        require_space(root, sum(plan.bytes for _, _, plan in plans))
        for _, _, plan in plans:
            if not plan.is_done:
                with writing(plan.staging.inputs, remedy=_KEPT):
                    plan.staging.begin()
        watcher.begin(sum(source.listing.span(member) for source, _, plan in plans for member in plan.missing))
        return [_fetch(source, task, plan, watcher) for source, task, plan in plans]


@dataclass(frozen=True)
class _Source:
    """An archive of tasks on its server."""

    file: RemoteFile
    listing: Listing
    is_pinned: bool  #: whether the catalogue states the digest of the archive's list of files


def _find_source(wanted: WantedTasks) -> _Source:
    """Return the archive of the wanted tasks; raises `UserError` if it is damaged, or not as the catalogue says."""
    archive, remote = wanted.archive, find_remote(wanted.archive.url)
    with cast(IO[bytes], remote.open()) as parts:
        listing = read_listing(parts, [task.name for task in wanted.tasks], archive.url)
    if archive.sha256 not in (None, listing.sha256):
        what = "another archive than the catalogue says: SHA-256 of its directory"
        raise UserError(what, file=archive.url, expected=archive.sha256, found=listing.sha256)
    return _Source(remote.within(listing.boundaries), listing, archive.sha256 is not None)


def _plan(source: _Source, task: KnownTask, staging: StagedTask, models: ModelSelection) -> TaskPlan:
    url = source.file.url
    plan = plan_task(source.listing.of(task.name, url), staging, models, url)
    if task.models not in (None, plan.models_in_archive):
        raise UserError("another archive than the catalogue says", file=url,
                        expected=f"{task.models} models of {task.name}", found=plan.models_in_archive)  # fmt: skip
    return plan


def _note_versions(sources: Iterable[_Source], watcher: Watcher) -> None:
    """Tell the user the version of each archive for which the catalogue has no digest."""
    for source in sources:
        if not source.is_pinned:
            version = f"{source.file.length} bytes, ETag {source.file.etag or 'none'}"
            digest = f"SHA-256 of its directory {source.listing.sha256} ({UNKNOWN} to the catalogue)"
            watcher.note(f"{source.file.url}: {version}, {digest}")


def _fetch(source: _Source, task: KnownTask, plan: TaskPlan, watcher: Watcher) -> FetchedTask:
    staging, url = plan.staging, source.file.url
    if not plan.is_done:
        with writing(staging.inputs, remedy=_KEPT):
            transfer(lambda: cast(IO[bytes], source.file.open(watcher.seen)), plan.missing, staging, url)
            record = _record(source, plan)
            found = digest_of_task(record)
            if record.part is None and task.sha256 not in (None, found):
                what = f"another {task.name} than the catalogue says: SHA-256 of all files"
                raise UserError(what, file=url, expected=task.sha256, found=found)
            staging.install(record)
        if record.part is None and task.sha256 is None:
            watcher.note(f"{task.name}: SHA-256 of all files {found} ({UNKNOWN} to the catalogue)")
        if staging.kept:
            watcher.note(f"{task.name}: {len(staging.kept)} files of other models, fetched before, are kept for later")
    assert staging.record is not None
    return FetchedTask(task.name, staging.inputs, staging.record, not plan.is_done)


def _record(source: _Source, plan: TaskPlan) -> Fetched:
    staged = {m.path: plan.staging.finished[m.path] for m in plan.members if m.path not in plan.present}
    files = {**plan.present, **staged}
    files.pop(REFERENCE)
    reference = plan.staging.choose(plan.chosen)
    return Fetched(
        plan.staging.source, str(source.file.url), source.file.length, source.file.etag, source.listing.sha256,
        len(plan.chosen), plan.models_in_archive, reference, dict(sorted(files.items())),
    )  # fmt: skip
