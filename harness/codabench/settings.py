"""The settings of a phase, which its two programs carry, and the tasks behind them."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import UserError
from harness.format.files import MAX_JSON
from harness.format.layout import INPUTS, MODEL_FILES, REFERENCE, REFERENCES, find_shards
from harness.reading import read_regular
from harness.task.contents import Contents
from harness.task.hidden import Withhold
from harness.task.layout import TaskFiles

#: Files of both programs: these settings, the key of the competition, and the command that the platform runs.
SETTINGS, KEY, COMMAND = "phase.json", "key", "metadata.yaml"

#: The folder of a hidden phase's tasks in the ingestion program: what the platform mounts as input data, it also mounts
#: for a command of the submission.
TASKS = "tasks"

#: The mark of a hidden task, and its content.
MARK, HIDDEN = "metadata", b"hidden: true\n"


#: Seconds before the end of the container in which calls end: the platform starts its clock before the container, and
#: keeps nothing of one that it ends. At most this share of the container's time.
RESERVE_S, RESERVE_SHARE = 60.0, 0.25


class TaskDigests(BaseModel):
    """What the models and training data of a task must be, as in records."""

    model_config = ConfigDict(frozen=True)

    models: dict[str, str]
    data: str

    def are_of(self, contents: Contents) -> bool:
        """Whether these are the digests of some files."""
        return contents.models == self.models and contents.data == self.data


class Settings(BaseModel):
    """Limits and tasks of a phase.

    Attributes:
        competition: tells competitions apart; derived from the key.
        name: of the phase.
        hidden: whether outputs are withheld, and scores rounded.
        time_limit_s: seconds for each call.
        memory_bytes: memory for each call.
        execution_time_limit_s: seconds after which the platform ends the container.
        tasks: name -> digests.
        columns: name of a task -> key of its column on the leaderboard.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    competition: str
    name: str
    hidden: bool
    time_limit_s: float
    memory_bytes: int
    execution_time_limit_s: int
    tasks: dict[str, TaskDigests]
    columns: dict[str, str]

    @property
    def withhold(self) -> Withhold:
        """What is withheld of its tasks."""
        return Withhold.ALWAYS if self.hidden else Withhold.NEVER

    @property
    def for_calls_s(self) -> float:
        """Seconds of the container's time in which calls are made."""
        limit_s = self.execution_time_limit_s
        return limit_s - min(RESERVE_S, RESERVE_SHARE * limit_s)

    @property
    def id(self) -> str:
        """SHA-256 of all settings: results of one phase have one."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """Return the content of the file `SETTINGS`."""
        return self.model_dump_json(indent=1).encode() + b"\n"

    @classmethod
    def read(cls, program: Path) -> Self:
        """Read the settings of a program; raises `UserError`."""
        file = program / SETTINGS
        try:
            return cls.model_validate_json(read_regular(file, MAX_JSON, links=True))
        except ValidationError as error:
            raise UserError("not the settings of a phase", file=file, remedy="make the bundle again") from error


def inputs_of(task: TaskFiles) -> dict[str, Path]:
    """Return the files that calls need as members of an archive: no test data, no reference data, nothing else."""
    models = [model / name for model in task.models for name in MODEL_FILES if (model / name).exists()]
    files = [*models, *find_shards(task.train)]
    return {f"{INPUTS}/{task.name}/{file.relative_to(task.directory).as_posix()}": file for file in files}


def references_of(tasks: Sequence[TaskFiles], *, hidden: bool) -> Mapping[str, Path | bytes]:
    """Return the files that scoring needs as members of an archive."""
    found: dict[str, Path | bytes] = {}
    for task in tasks:
        assert task.reference is not None, "checked before"
        found[f"{REFERENCES}/{task.name}/{REFERENCE}"] = task.reference
    return found | ({f"{REFERENCES}/{task.name}/{MARK}": HIDDEN for task in tasks} if hidden else {})
