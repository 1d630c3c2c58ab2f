"""What of a task has to be fetched: the models that are wanted, and their files that are not here yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.credentials import Address
from harness.errors import UserError
from harness.fetch.listing import ListedFile
from harness.fetch.staging import StagedTask
from harness.format.fetched import Fetched, FetchedFile
from harness.format.files import natural
from harness.format.layout import REFERENCE, WEIGHTS
from harness.hints import did_you_mean
from harness.task.selection import Wanted, evenly


@dataclass(frozen=True)
class TaskPlan:
    """One task to fetch.

    Attributes:
        staging: where its files are until it is whole.
        chosen: the models that it will have.
        models_in_archive: number of all of its models.
        members: all of its files, once it is whole.
        present: the files that it has at its place already, by path.
        missing: those of `members` to be fetched.
        is_done: whether the task is at its place with all wanted models.
    """

    staging: StagedTask
    chosen: Sequence[str]
    models_in_archive: int
    members: Sequence[ListedFile]
    present: Mapping[str, FetchedFile]
    missing: Sequence[ListedFile]
    is_done: bool

    @property
    def bytes(self) -> int:
        """Size of what is missing, unpacked."""
        return sum(member.entry.file_size for member in self.missing)


def plan_task(members: Mapping[str, ListedFile], staging: StagedTask, wanted: Wanted, url: Address) -> TaskPlan:
    """Return what has to be fetched of a task, given its files in the archive.

    Raises:
        UserError: a model is unknown; files at the task's place are of another origin, or were others in the archive.
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
    name: str, models: Sequence[str], members: Mapping[str, ListedFile], wanted: Wanted, here: set[str]
) -> Sequence[str]:
    """Return the models that a task will have: those that are here, and as many others as it takes."""
    if wanted is None:
        return models
    if isinstance(wanted, tuple):
        for unknown in (model for model in wanted if model not in models):
            hint = did_you_mean(unknown, models)
            raise UserError(f"--models: no model {unknown!r} in {name}", expected=f"some of {len(models)}", remedy=hint)
        return [model for model in models if model in wanted or model in here]
    ordered = sorted(models, key=lambda model: (members[f"{model}/{WEIGHTS}"].entry.file_size, natural(model)))
    others = [model for model in evenly(ordered, wanted) if model not in here]
    added = evenly(others, max(wanted - len(here), 0))
    return [model for model in models if model in here or model in added]


def _require_same(record: Fetched | None, members: Mapping[str, ListedFile], url: Address) -> None:
    """Raise `UserError` if a file was another one in the archive when it was fetched."""
    for path, file in record.files.items() if record else ():
        entry = members[path].entry if path in members else None
        if entry is None or (entry.file_size, entry.CRC) != (file.size, file.crc32):
            found = f"{entry.file_size} bytes, CRC-32 {entry.CRC:08x}" if entry else "no such member"
            expected = f"{file.size} bytes, CRC-32 {file.crc32:08x} as fetched before"
            remedy = "compare both with what the corpus' owner announced"
            raise UserError(f"another {path}", file=url, expected=expected, found=found, remedy=remedy)
