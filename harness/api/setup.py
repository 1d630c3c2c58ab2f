"""From an `Execution` to the settings and the executor of a run."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.api.execution import UNSAFE, Execution
from harness.api.progress import Progress
from harness.cache import cache_directory
from harness.configuration import UNSANDBOXED
from harness.errors import UserError
from harness.execution.budget import TimeBudget
from harness.execution.executor import Executor
from harness.execution.executors import EXECUTORS
from harness.execution.settings import RunSettings
from harness.sandbox import SandboxChoice
from harness.task.hidden import Withhold
from harness.task.layout import TaskFiles, hidden_names


@dataclass(frozen=True)
class Setup:
    """Settings and executor of a run."""

    settings: RunSettings
    executor: Executor


def prepare(chosen: Execution, tasks: Sequence[TaskFiles], progress: Progress) -> Setup:
    """Return the setup for calls on some tasks.

    Raises `UserError` with a remedy if no sandbox works, if `auto` could only choose weaker isolation for a hidden
    task, or if tasks or the cache are in directories that submissions can read.
    """
    sandbox = _sandbox(chosen, hidden_names(tasks), progress)
    executor = EXECUTORS[chosen.executor](
        sandbox, chosen.memory_bytes, chosen.workers, progress.warn, **chosen.executor_parameters
    )
    settings = RunSettings(
        limits=executor.limits,
        time_limit_s=chosen.time_limit_s,
        time_budget=TimeBudget(chosen.time_budget),
        seed=chosen.seed,
        runtime=chosen.runtime,
        withhold=Withhold(chosen.withhold),
    )
    executor.require_unseen([*_private_files(tasks), cache_directory("staged")])
    return Setup(settings, executor)


def _private_files(tasks: Sequence[TaskFiles]) -> Iterator[Path]:
    """Yield the directories and files of tasks, and the links in them, which may point elsewhere."""
    for task in tasks:
        yield from (task.directory, *([task.reference] if task.reference else []), *task.marks)
        yield from (path for path in task.directory.rglob("*") if path.is_symlink())


def _sandbox(chosen: Execution, hidden: Collection[str], progress: Progress) -> SandboxChoice:
    """Return the requested kind of sandbox; `auto` may choose weaker isolation, but never for a hidden task."""
    if not chosen.unsafe_no_sandbox:
        return SandboxChoice(chosen.sandbox, chosen.sandbox_parameters, may_promise_less=not hidden)
    if hidden:
        remedy = "leave it out, or choose other tasks with --task"
        raise UserError(f"--unsafe-no-sandbox: not with hidden tasks ({', '.join(sorted(hidden))})", remedy=remedy)
    progress.warn(UNSAFE)
    return SandboxChoice(UNSANDBOXED)
