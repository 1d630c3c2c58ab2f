"""From the description of a competition to its phases, with the tasks that the platform gets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.codabench.columns import task_columns
from harness.codabench.competition import CodabenchCompetition, Phase
from harness.codabench.settings import PhaseSettings, TaskDigests
from harness.errors import UserError
from harness.task.layout import TaskDirectory, TaskFiles
from harness.task.task import Task, read_tasks


@dataclass(frozen=True)
class PlannedPhase:
    """A phase, the tasks of it that the platform gets, and the settings that its programs carry."""

    phase: Phase
    tasks: Sequence[TaskFiles]
    settings: PhaseSettings

    @property
    def shortage(self) -> str:
        """A note if the container's time does not suffice for calls that use all of theirs; empty otherwise."""
        limit_s, left_s = self.phase.time_limit, self.settings.for_calls_s
        if (longest_s := limit_s * self.settings.planned) <= left_s:
            return ""
        return (
            f"phase {self.phase.name!r}: calls that use all of their {limit_s:g} s take {longest_s:.0f} s in sum; a "
            f"container has {left_s:.0f} s for them, and what is not called then has no value"
        )


def plan_phases(competition: CodabenchCompetition, where: Path) -> list[PlannedPhase]:
    """Read and check the tasks of a competition, which the file `where` describes, and return its phases.

    Raises:
        UserError: a task is missing or invalid, lacks reference data, or is marked as hidden, or not, against the
            description.
    """
    names = list(dict.fromkeys(name for phase in competition.phases for name in phase.public_tasks))
    found = TaskDirectory(Path(competition.tasks)).runnable([*names, *competition.hidden_tasks])
    for task in found:
        if task.hidden and task.name in names:
            remedy = "write `hidden = true` for its phase, and a public `check_task`"
            raise UserError(f"{task.name!r} is marked as hidden: a bundle is public", file=where, remedy=remedy)
        if not task.hidden and task.name not in names:
            remedy = "write `hidden: true` into a file `metadata` beside its reference data"
            raise UserError("not marked as hidden, as a board at home must know", file=task.directory, remedy=remedy)
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
                tasks={name: _digests(tasks[name]) for name in phase.public_tasks},
                columns={name: columns[name] for name in phase.public_tasks},
            ),
        )
        for phase in competition.phases
    ]  # fmt: skip


def _digests(task: Task) -> TaskDigests:
    return TaskDigests(models={model.id: model.digest for model in task.models}, data=task.data.digest)
