"""Downloads tasks of a known corpus. Files that are already there are not downloaded again."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.credentials import Address
from harness.directory_lock import locked_directory
from harness.errors import UserError, writing
from harness.fetch.catalogue import UNKNOWN, KnownTask, WantedTasks, corpora, find_wanted
from harness.fetch.source import ArchiveSource, Watcher, find_source
from harness.fetch.staging import StagedTask, TaskPlan, digest_of_task, plan_task, require_space
from harness.fetch.transfer import DamagedError, transfer
from harness.format.fetched import FETCHING, Fetched
from harness.format.layout import REFERENCE
from harness.task import DEFAULT_DIRECTORY
from harness.task.incomplete import FetchRequest
from harness.task.layout import require_no_flat_tasks
from harness.task.selection import ModelSelection

#: File in `FETCHING` that a command locks while it downloads into the directory.
LOCK = "lock"

_KEPT = "finished files are kept"


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
    catalogue: Address | None = None,
    sha256: str | None = None,
    whole: bool = False,
    watcher: Watcher = Watcher(),  # noqa: B008 - it has no state
) -> list[FetchedTask]:
    """Download the tasks that `name` requests, and return them. The same call continues an interrupted download.

    Raises `UserError` if a corpus or task is unknown, or a task cannot be downloaded; finished files are kept.

    Args:
        name: CORPUS, CORPUS/TASK or CORPUS/PHASE.
        tasks_dir: directory of the tasks.
        models: number or names of the models of each task; None: all. A number selects models evenly by file size.
        catalogue: as for `corpora`.
        sha256: as for `corpora`.
        whole: whether to download whole archives, for servers that do not send parts of a file.
        watcher: receives the progress.
    """
    wanted, root = find_wanted(name, corpora(catalogue, sha256)), Path(tasks_dir)
    request = FetchRequest(wanted[0].corpus.name, models, whole, catalogue is not None)
    tasks = [(one, task) for one in wanted for task in one.tasks]
    with locked_directory(root, root / FETCHING / LOCK, "pgdl task fetch"):
        for _, task in tasks:
            staging = StagedTask(root, task.name)
            with writing(staging.inputs, remedy=_KEPT):
                staging.finish()
        require_no_flat_tasks(root)

        lacking = [task for one, task in tasks if whole and not _is_here(one, task, root, models)]
        if whole and not lacking:
            return [_known(task, root) for _, task in tasks]

        def begin() -> None:
            for task in lacking:
                _begin(StagedTask(root, task.name), request)

        sources = [find_source(one, root, begin, watcher, whole=whole) for one in wanted]
        plans = [
            (source, task, _plan(source, one, task, root, models))
            for one, source in zip(wanted, sources, strict=True)
            for task in one.tasks
        ]
        used = {source.url for source, _, plan in plans if not plan.is_done}
        _note_versions([source for source in sources if source.url in used], watcher)
        require_space(root, sum(plan.bytes for _, _, plan in plans))
        for _, _, plan in plans:
            if not plan.is_done:
                _begin(plan.staging, request)
        watcher.begin("fetching", sum(source.travelling(plan.missing) for source, _, plan in plans))
        done = [_fetch(source, task, plan, watcher) for source, task, plan in plans]
        for source in sources:
            source.discard()
    return done


def _plan(source: ArchiveSource, wanted: WantedTasks, task: KnownTask, root: Path, models: ModelSelection) -> TaskPlan:
    staging = StagedTask(root, task.name, f"{wanted.corpus.name}/{task.name}")
    plan = plan_task(source.listing.of(task.name, source.url), staging, models, source.url)
    if task.models not in (None, plan.models_in_archive):
        raise UserError("another archive than the catalogue says", file=source.url,
                        expected=f"{task.models} models of {task.name}", found=plan.models_in_archive)  # fmt: skip
    return plan


def _note_versions(sources: Iterable[ArchiveSource], watcher: Watcher) -> None:
    """Tell the user the version of each archive whose digest is not in the catalogue."""
    for source in sources:
        if not source.is_pinned:
            version = f"{source.length} bytes, ETag {source.etag or 'none'}"
            digest = f"SHA-256 of its directory {source.listing.sha256} ({UNKNOWN} to the catalogue)"
            watcher.note(f"{source.url}: {version}, {digest}")


def _begin(staging: StagedTask, request: FetchRequest) -> None:
    with writing(staging.inputs, remedy=_KEPT):
        staging.begin(request)


def _fetch(source: ArchiveSource, task: KnownTask, plan: TaskPlan, watcher: Watcher) -> FetchedTask:
    staging = plan.staging
    if not plan.is_done:
        with writing(staging.inputs, remedy=_KEPT):
            try:
                transfer(lambda: source.open(watcher.seen), plan.missing, plan.staging, source.url)
            except DamagedError:
                source.discard()  # then the next command downloads it again
                raise
            record = _record(source, plan)
            found = digest_of_task(record)
            if record.part is None and task.sha256 not in (None, found):
                what = f"another {task.name} than the catalogue says: SHA-256 of all files"
                raise UserError(what, file=source.url, expected=task.sha256, found=found)
            staging.install(record)
        if record.part is None and task.sha256 is None:
            watcher.note(f"{task.name}: SHA-256 of all files {found} ({UNKNOWN} to the catalogue)")
        if kept := StagedTask(staging.root, task.name).kept:
            watcher.note(f"{task.name}: {len(kept)} files of other models, fetched before, are kept for later")
    return _known(task, staging.root, is_new=not plan.is_done)


def _known(task: KnownTask, root: Path, *, is_new: bool = False) -> FetchedTask:
    staging = StagedTask(root, task.name)
    assert staging.record is not None
    return FetchedTask(task.name, staging.inputs, staging.record, is_new)


def _is_here(wanted: WantedTasks, task: KnownTask, root: Path, models: ModelSelection) -> bool:
    """Whether a task is in `root`, complete, and with at least the wanted models."""
    staging = StagedTask(root, task.name)
    record = staging.record
    if record is None or record.url != str(wanted.archive.url) or not staging.is_whole(record):
        return False
    if isinstance(models, tuple):
        return set(models) <= {path.partition("/")[0] for path in record.files}
    return record.part is None or (models is not None and record.models >= models)


def _record(source: ArchiveSource, plan: TaskPlan) -> Fetched:
    staged = {m.path: plan.staging.finished[m.path] for m in plan.members if m.path not in plan.present}
    files = {**plan.present, **staged}
    files.pop(REFERENCE)
    reference = plan.staging.choose(plan.chosen)
    return Fetched(
        plan.staging.source, str(source.url), source.length, source.etag, source.listing.sha256, len(plan.chosen),
        plan.models_in_archive, reference, dict(sorted(files.items())),
    )  # fmt: skip
