"""The settings of a phase that the bundle passes to the platform's programs, and the files of its tasks."""

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

SETTINGS, COMMAND = "phase.json", "metadata.yaml"  #: files of a program: its settings, and the command to run
SANDBOX = "landlock"  #: the kind of sandbox that works in the platform's containers

#: Calls end `RESERVE_S` seconds before the container's time is up, or `RESERVE_SHARE` of its time if that is less: the
#: platform keeps no output of a container that it kills.
RESERVE_S, RESERVE_SHARE = 60.0, 0.25


class TaskDigests(BaseModel):
    """The digests of a task's models and of its training data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: dict[str, str]  #: model id -> digest
    data: str


class PhaseSettings(BaseModel):
    """The limits and tasks of a phase."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    is_check: bool  #: whether the phase is hidden, so that the platform only checks submissions
    time_limit_s: float  #: seconds for each call
    memory_bytes: int  #: memory for each call
    execution_time_limit_s: int  #: seconds after which the platform kills the container
    tasks: dict[str, TaskDigests]  #: name of a task -> its digests
    columns: dict[str, str]  #: name of a task -> key of its column on the leaderboard

    @property
    def planned(self) -> int:
        """Number of models of the phase; a submission is called once on each."""
        return sum(len(task.models) for task in self.tasks.values())

    @property
    def for_calls_s(self) -> float:
        """Seconds after the start of the container at which the calls end."""
        limit_s = self.execution_time_limit_s
        return limit_s - min(RESERVE_S, RESERVE_SHARE * limit_s)

    def to_bytes(self) -> bytes:
        """Return the content of the file `SETTINGS`."""
        return self.model_dump_json(indent=1).encode() + b"\n"

    @classmethod
    def read(cls, program: Path) -> Self:
        """Read the settings from the directory of a program. Raise `UserError` for an invalid file."""
        file = program / SETTINGS
        try:
            return cls.model_validate_json(read_regular(file, MAX_JSON, links=True))
        except ValidationError as error:
            raise UserError("not the settings of a phase", file=file, remedy="make the bundle again") from error

    def require_calls(self, rows: "Iterable[Record]", file: Path | str) -> None:
        """Raise `UserError` unless `rows` are calls of this phase, of a single submission, and no call occurs twice."""
        seen, owners = set(), set()
        for row in rows:
            owners.add((row.submission, row.submission_digest, row.configuration, row.is_baseline))
            task = self.tasks.get(row.task)
            digests = (task.models.get(row.model), task.data) if task else None
            if digests != (row.model_digest, row.data_digest):
                raise UserError("calls on models or data that the phase does not have", file=file, found=row.task)
            limits = (row.time_limit_s, row.memory_limit_bytes, row.sandbox, row.repeat)
            if limits != (self.time_limit_s, self.memory_bytes, SANDBOX, 0):
                raise UserError("calls with limits that differ from the limits of the phase", file=file)
            if (row.task, row.model) in seen or len(owners) > 1 or row.is_baseline:
                raise UserError("calls of several submissions, or recorded twice", file=file)
            seen.add((row.task, row.model))


def inputs_of(task: TaskFiles) -> dict[str, Path]:
    """Return the files of a task's models and training data: name in an archive -> file."""
    models = [model / name for model in task.models for name in MODEL_FILES if (model / name).exists()]
    files = [*models, *find_shards(task.train)]
    return {f"{INPUTS}/{task.name}/{file.relative_to(task.directory).as_posix()}": file for file in files}


def references_of(tasks: Sequence[TaskFiles]) -> Mapping[str, Path]:
    """Return name in an archive -> file, for the reference data of each task; tasks without them are left out."""
    return {f"{REFERENCES}/{task.name}/{REFERENCE}": task.reference for task in tasks if task.reference is not None}
