"""The settings of a phase for the two programs that the platform runs, and the files of the phase's tasks."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import UserError
from harness.format.files import MAX_JSON
from harness.format.layout import INPUTS, MODEL_FILES, REFERENCE, REFERENCES, find_shards
from harness.reading import read_regular
from harness.task.layout import TaskFiles

if TYPE_CHECKING:
    from harness.records import Record

#: Names of the files in a program: the settings, and the command that the platform runs.
SETTINGS, COMMAND = "phase.json", "metadata.yaml"

#: Kind of sandbox of the calls, which works in the platform's containers.
SANDBOX = "landlock"

#: Calls end this many seconds before the container's time is up, or this share of the time if that is less. The
#: platform starts its clock before the container, and keeps no output of a container that it kills.
RESERVE_S, RESERVE_SHARE = 60.0, 0.25


class TaskDigests(BaseModel):
    """The digests of a task's models, by model id, and of its training data, as in records."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: dict[str, str]
    data: str


class PhaseSettings(BaseModel):
    """The limits and tasks of a phase."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str  #: name of the phase
    is_check: bool  #: whether submissions are only checked here, because the phase is scored elsewhere
    time_limit_s: float  #: seconds for each call
    memory_bytes: int  #: memory for each call
    execution_time_limit_s: int  #: seconds after which the platform should kill the container
    tasks: dict[str, TaskDigests]  #: name of a task -> its digests
    columns: dict[str, str]  #: name of a task -> key of its column on the leaderboard

    @property
    def planned(self) -> int:
        """Number of calls of a submission: one per model."""
        return sum(len(task.models) for task in self.tasks.values())

    @property
    def for_calls_s(self) -> float:
        """The part of the container's time in which calls are made, in seconds."""
        limit_s = self.execution_time_limit_s
        return limit_s - min(RESERVE_S, RESERVE_SHARE * limit_s)

    def to_bytes(self) -> bytes:
        """Return the settings as the content of the file `SETTINGS`."""
        return self.model_dump_json(indent=1).encode() + b"\n"

    @classmethod
    def read(cls, program: Path) -> Self:
        """Read the settings in the directory of a program. Raise `UserError` for an invalid file."""
        file = program / SETTINGS
        try:
            return cls.model_validate_json(read_regular(file, MAX_JSON, links=True))
        except ValidationError as error:
            raise UserError("not the settings of a phase", file=file, remedy="make the bundle again") from error

    def require_calls(self, rows: "Iterable[Record]", file: Path | str) -> None:
        """Raise `UserError` unless all records `rows` of a `file` are of calls of this phase. The file may be forged.

        The calls must be of a single submission, and no call may be recorded twice.
        """
        seen, owners = set(), set()
        for row in rows:
            owners.add((row.submission, row.submission_digest, row.configuration, row.is_baseline))
            task = self.tasks.get(row.task)
            digests = (task.models.get(row.model), task.data) if task else None
            if digests != (row.model_digest, row.data_digest):
                raise UserError("calls on models or data that the phase does not have", file=file, found=row.task)
            limits = (row.time_limit_s, row.memory_limit_bytes, row.sandbox, row.repeat)
            if limits != (self.time_limit_s, self.memory_bytes, SANDBOX, 0):
                raise UserError("calls with other limits than those of the phase", file=file)
            if (row.task, row.model) in seen or len(owners) > 1 or row.is_baseline:
                raise UserError("calls of several submissions, or recorded twice", file=file)
            seen.add((row.task, row.model))


def inputs_of(task: TaskFiles) -> dict[str, Path]:
    """Return name in an archive -> file, for the files of a task that calls need: models and training data."""
    models = [model / name for model in task.models for name in MODEL_FILES if (model / name).exists()]
    files = [*models, *find_shards(task.train)]
    return {f"{INPUTS}/{task.name}/{file.relative_to(task.directory).as_posix()}": file for file in files}


def references_of(tasks: Sequence[TaskFiles]) -> Mapping[str, Path]:
    """Return name in an archive -> file, for the reference data of tasks."""
    return {f"{REFERENCES}/{task.name}/{REFERENCE}": task.reference for task in tasks if task.reference is not None}
