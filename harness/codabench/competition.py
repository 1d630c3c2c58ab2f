"""The TOML file in which an organiser describes a competition and its phases.

A key that also exists in Codabench's own description of competitions has the same name here.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Self
from uuid import UUID

from pydantic import Field, field_validator, model_validator

from harness.codabench.columns import task_columns
from harness.codabench.settings import PhaseSettings, TaskDigests
from harness.configuration import GIB, LONGEST_S
from harness.errors import UserError
from harness.task import DEFAULT_DIRECTORY
from harness.task.layout import TaskDirectory, TaskFiles
from harness.task.task import read_tasks
from harness.toml import Section, checked, read_toml, require

#: Seconds that a submission may take on the platform's own machines (`src/apps/competitions/tasks.py:117`).
DEFAULT_QUEUE_S = 600

MOST_SUBMISSIONS = 2**31 - 1  #: largest number of submissions that the platform's database can hold
SHORTEST_S = 60  #: minimum time of a container in seconds, to start, to import a framework and to end in time


class Page(Section):
    """`[[pages]]`: a page of the competition."""

    title: str = Field(min_length=1, max_length=255, description="Title in the menu.")
    file: str = Field(description="Markdown or HTML, relative to the TOML file.")


class Phase(Section):
    """`[[phases]]`: the tasks, limits and dates of a phase."""

    name: str = Field(min_length=1, max_length=256, description="Name of the phase.")
    description: str = Field("", description="Purpose of the phase.")
    start: datetime = Field(description="Date, or date and time; without an offset, in UTC.")
    end: datetime | None = Field(None, description="As `start`; only the last phase may lack an end.")
    tasks: list[str] = Field(description="Names of its tasks.")
    hidden: bool = Field(
        False, description="Whether its tasks are never uploaded, so that the organiser evaluates its submissions. The "
        "tasks of other phases are public: the starting kit has them with their reference data."
    )  # fmt: skip
    check_task: str | None = Field(
        None, description="For a hidden phase: a public task on which the platform checks its submissions."
    )
    time_limit: float = Field(300.0, gt=0, le=LONGEST_S, strict=False, description="Seconds for each call.")
    memory_gib: float = Field(4.0, gt=0, strict=False, description="Memory for each call.")
    execution_time_limit: int = Field(
        DEFAULT_QUEUE_S, ge=SHORTEST_S, le=LONGEST_S, description="Seconds for all calls of a submission together."
    )
    max_submissions_per_day: int = Field(5, ge=1, le=MOST_SUBMISSIONS, description="For each participant.")
    max_submissions: int = Field(
        100, ge=1, le=MOST_SUBMISSIONS, description="For each participant, in the whole phase."
    )
    auto_migrate_to_this_phase: bool = Field(
        False, description="Whether submissions of the previous phase are run again when this phase begins."
    )

    @property
    def public_tasks(self) -> list[str]:
        """Names of the tasks that are uploaded to the platform; for a hidden phase only `check_task`."""
        return self.tasks if self.check_task is None else [self.check_task]

    @property
    def ends(self) -> datetime | None:
        """The end of the phase in UTC; None for a phase without end."""
        return self.end.replace(tzinfo=UTC) if self.end else None

    @property
    def memory_bytes(self) -> int:
        """Memory for each call, in bytes."""
        return int(self.memory_gib * GIB)

    @field_validator("start", "end", mode="before")
    @classmethod
    def _in_utc(cls, value: object) -> object:
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time())
        if not isinstance(value, datetime):
            return value
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end is not None:
            require(self.start < self.end, f"phase {self.name!r}: end", f"after its start, {self.start}")
        require(bool(self.tasks), f"phase {self.name!r}: tasks", "one or more")
        require(len(set(self.tasks)) == len(self.tasks), f"phase {self.name!r}: tasks", "each once")
        is_given = self.check_task is not None
        require(self.hidden or not is_given, f"phase {self.name!r}: hidden", "true, because it has a check_task")
        expected = "a public task, because the phase is hidden"
        require(is_given or not self.hidden, f"phase {self.name!r}: check_task", expected)
        return self


class CodabenchCompetition(Section):
    """The content of the TOML file of a competition."""

    title: str = Field(min_length=1, max_length=256, description="Title of the competition.")
    description: str = Field("", description="The competition in a sentence.")
    image: str = Field(description="Logo: a PNG, JPEG or GIF file.")
    terms: str = Field(description="What participants agree to: a Markdown or HTML file.")
    docker_image: str = Field(min_length=1, max_length=128, description="The image that pgdl help codabench names.")
    queue: UUID | None = Field(
        None, strict=False, description="Vhost of the queue of your own workers; without it, the platform's are used."
    )
    contact_email: str | None = Field(
        None, max_length=256, pattern=r"^[\w.+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$",
        description="Address of the organisers.",
    )  # fmt: skip
    registration_auto_approve: bool = Field(False, description="Whether everybody who registers may take part.")
    tasks: str = Field(DEFAULT_DIRECTORY, description="Directory of the tasks.")
    pages: list[Page] = Field(min_length=1, max_length=200)
    phases: list[Phase] = Field(min_length=1, max_length=200)

    @property
    def hidden_tasks(self) -> list[str]:
        """Names of all tasks of hidden phases; they are never uploaded."""
        return [name for phase in self.phases if phase.hidden for name in phase.tasks]

    @model_validator(mode="after")
    def _fit(self) -> Self:
        for before, after in itertools.pairwise(self.phases):
            require(before.end is not None, f"phase {before.name!r}: end", "a date, because a phase follows")
            expected = f"after the end of phase {before.name!r}, {before.end}"
            require(before.end is None or before.end < after.start, f"phase {after.name!r}: start", expected)
        names = [phase.name for phase in self.phases]
        require(len(set(names)) == len(names), "phases", "phases with different names")
        first = self.phases[0]
        require(
            not first.auto_migrate_to_this_phase, f"phase {first.name!r}", "no auto_migrate_to_this_phase: it is first"
        )
        for phase in self.phases:
            both = sorted(set(phase.public_tasks) & set(self.hidden_tasks))
            expected = f"public tasks, which everybody can download, but a hidden phase has {', '.join(both)}, too"
            require(not both, f"phase {phase.name!r}", expected)
            expected = f"at most {DEFAULT_QUEUE_S} s on the platform's workers, or the `queue` of your own"
            allowed = self.queue is not None or phase.execution_time_limit <= DEFAULT_QUEUE_S
            require(allowed, f"phase {phase.name!r}: execution_time_limit", expected)
        return self


def position_of(name: str | None, names: Sequence[str], where: object) -> int:
    """Return the position in `names` of the phase `name`, or of the only phase if `name` is None.

    Raise `UserError`, with a message that begins with `where`, if there is no such phase.
    """
    found = [number for number, one in enumerate(names) if name in (None, one)]
    if len(found) != 1:
        expected = f"one of {', '.join(map(repr, names))}"
        raise UserError("--phase", file=where, expected=expected, found="none" if name is None else repr(name))
    return found[0]


def read_competition(path: Path) -> CodabenchCompetition:
    """Read and check the TOML file of a competition. Raise `UserError` with all problems of the file.

    The directory of tasks in the result is relative to the current directory, not to the file.
    """
    content, _ = read_toml(path)
    found = checked(CodabenchCompetition, content, "", path)
    return found.model_copy(update={"tasks": str(path.parent / found.tasks)})


@dataclass(frozen=True)
class PlannedPhase:
    """A phase with checked tasks."""

    phase: Phase
    tasks: Sequence[TaskFiles]  #: files of the public tasks
    settings: PhaseSettings  #: settings of the programs that the platform runs

    @property
    def shortage(self) -> str:
        """A note if the container's time is too short for calls that all reach their time limit; otherwise ""."""
        limit_s, left_s = self.phase.time_limit, self.settings.for_calls_s
        if (longest_s := limit_s * self.settings.planned) <= left_s:
            return ""
        return (
            f"phase {self.phase.name!r}: calls that use all of their {limit_s:g} s take {longest_s:.0f} s in sum; a "
            f"container has {left_s:.0f} s for them, and calls that do not fit have no value"
        )


def plan_phases(competition: CodabenchCompetition, where: Path) -> list[PlannedPhase]:
    """Check the tasks of a competition, and return its phases. `where` is the TOML file, for messages.

    Raise `UserError` if a task is missing, invalid or without reference data, if a public phase has a task that is
    marked as hidden, or if a hidden phase has a task without this mark.
    """
    names = list(dict.fromkeys(name for phase in competition.phases for name in phase.public_tasks))
    remedy = f"name the directory of the tasks as `tasks` in {where}"
    found = TaskDirectory(Path(competition.tasks), remedy).runnable([*names, *competition.hidden_tasks])
    for task in found:
        if task.hidden and task.name in names:
            remedy = "write `hidden = true` for its phase, and a public `check_task`"
            raise UserError(f"{task.name!r} is marked as hidden: a bundle is public", file=where, remedy=remedy)
        if not task.hidden and task.name not in names:
            remedy = "write `hidden: true` into a file `metadata` beside its reference data"
            raise UserError("not marked as hidden, although its phase is hidden", file=task.directory, remedy=remedy)
        if task.reference is None:
            raise UserError("no reference data", file=task.directory, expected="model_configs.json", found="none")
    files = {task.name: task for task in found if task.name in names}
    columns, tasks = task_columns(names), {task.name: task for task in read_tasks(list(files.values()))}
    return [
        PlannedPhase(
            phase, [files[name] for name in phase.public_tasks],
            PhaseSettings(
                name=phase.name, is_check=phase.hidden, time_limit_s=phase.time_limit,
                memory_bytes=phase.memory_bytes, execution_time_limit_s=phase.execution_time_limit,
                tasks={
                    name: TaskDigests(
                        models={model.id: model.digest for model in tasks[name].models}, data=tasks[name].data.digest
                    )
                    for name in phase.public_tasks
                },
                columns={name: columns[name] for name in phase.public_tasks},
            ),
        )
        for phase in competition.phases
    ]  # fmt: skip
