"""From the description of a competition to its phases, with the tasks that they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.codabench.columns import task_columns
from harness.codabench.competition import Competition, Phase
from harness.codabench.settings import Settings, TaskDigests
from harness.errors import UserError
from harness.task.layout import TaskFiles, find_tasks
from harness.task.task import Task, read_tasks


@dataclass(frozen=True)
class PlannedPhase:
    """A phase, its tasks, and the settings that its programs carry."""

    phase: Phase
    tasks: Sequence[TaskFiles]
    settings: Settings

    @property
    def longest_s(self) -> float:
        """Seconds that all calls of a submission take if each uses its whole time, one after the other."""
        return self.phase.time_limit * sum(len(task.models) for task in self.settings.tasks.values())


def plan_phases(competition: Competition, root: Path, where: str, competition_id: str) -> list[PlannedPhase]:
    """Read and check the tasks under `root`, and return the phases.

    Raises:
        UserError: a task is missing or invalid, lacks reference data, or is hidden in one place and public in another.
    """
    names = list(dict.fromkeys(name for phase in competition.phases for name in phase.tasks))
    files = {task.name: task for task in find_tasks(root, names)}
    for task in files.values():
        if task.reference is None:
            raise UserError("no reference data", file=task.directory, expected="model_configs.json", found="none")
    _require_secrets_kept(competition, files, where)
    columns, tasks = task_columns(names), {task.name: task for task in read_tasks(list(files.values()))}
    return [
        PlannedPhase(
            phase, [files[name] for name in phase.tasks],
            Settings(
                competition=competition_id, name=phase.name, hidden=phase.hidden, time_limit_s=phase.time_limit,
                memory_bytes=phase.memory_bytes, execution_time_limit_s=phase.execution_time_limit,
                tasks={name: _digests(tasks[name]) for name in phase.tasks},
                columns={name: columns[name] for name in phase.tasks},
            ),
        )
        for phase in competition.phases
    ]  # fmt: skip


def _digests(task: Task) -> TaskDigests:
    return TaskDigests(models={model.id: model.digest for model in task.models}, data=task.data.digest)


def _require_secrets_kept(competition: Competition, files: Mapping[str, TaskFiles], where: str) -> None:
    """Raise `UserError` for a task of a public phase that is marked as hidden, or is in a hidden phase, too."""
    hidden = {name: phase.name for phase in competition.phases if phase.hidden for name in phase.tasks}
    for phase in (phase for phase in competition.phases if not phase.hidden):
        for name in phase.tasks:
            problem = f"phase {phase.name!r} is public: its starting kit would have the reference data of {name!r}"
            if files[name].hidden:
                raise UserError(f"{problem}, which is marked as hidden", file=where, remedy="write `hidden = true`")
            if name in hidden:
                remedy = "choose other tasks for one of them"
                raise UserError(f"{problem}, which phase {hidden[name]!r} hides", file=where, remedy=remedy)
