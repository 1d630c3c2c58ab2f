"""The function `pgdl.validate_tasks`: problems of invalid tasks, and notes on valid tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cache import any_cache
from harness.format.problems import InvalidTaskError, Problems
from harness.format.reference import Reference, read_reference
from harness.task import DEFAULT_DIRECTORY, task_notes
from harness.task.contents import changed_since_fetched
from harness.task.hidden import Withhold
from harness.task.layout import TaskDirectory, TaskFiles, advice_on_damage
from harness.task.task import Task, check_tasks
from harness.text import counted

Outcome = Task | Reference | InvalidTaskError


@dataclass(frozen=True)
class Validated:
    """The result of checking a task."""

    task: str
    verdict: str  #: a line that ends in `valid` or `invalid`
    problems: Sequence[str]  #: empty if the task is valid
    notes: Sequence[str]  #: remarks on a valid task that is not hidden; how to mend an invalid task that was built


def validate_tasks(
    tasks_dir: str | Path = DEFAULT_DIRECTORY, task_names: Sequence[str] = (), withhold: str = Withhold.AUTO.value
) -> list[Validated]:
    """Check tasks. Return for each task all its problems; for a hidden task, only their number.

    The files of a fetched task are compared with the digests recorded at the fetch. If the cache cannot be written, a
    temporary cache is used. Raise `UserError` for an unknown task.
    """
    everything = TaskDirectory(Path(tasks_dir)).all(task_names)
    runnable = [files for files in everything if not files.reference_only]
    with any_cache():
        checked = {files.name: outcome for files, outcome in zip(runnable, check_tasks(runnable), strict=True)}
    return [
        _validated(files, checked.get(files.name) or _check_reference(files), Withhold(withhold))
        for files in everything
    ]


def _validated(files: TaskFiles, outcome: Outcome, withhold: Withhold) -> Validated:
    found = [*(outcome.problems if isinstance(outcome, InvalidTaskError) else ()), *changed_since_fetched(files)]
    problems = withhold.problems(files, found)
    withheld = not found and withhold.covers(files.hidden)
    notes = advice_on_damage(files.reference) if problems else [] if withheld else _notes(outcome)
    return Validated(files.name, _verdict(outcome, files, len(found), withheld=withheld), problems, notes)


def _check_reference(files: TaskFiles) -> Outcome:
    assert files.reference is not None
    problems = Problems()
    reference = problems.attempt(read_reference, files.reference)
    problems.attempt(lambda: files.hidden)
    return InvalidTaskError(problems.lines) if problems.lines or reference is None else reference


def _notes(outcome: Outcome) -> list[str]:
    if isinstance(outcome, InvalidTaskError):
        return []
    if isinstance(outcome, Task):
        lines, reference = (
            [*task_notes.notes_of(outcome), *task_notes.notes_of_initial_weights(outcome)],
            outcome.reference,
        )
    else:
        lines, reference = task_notes.notes_of_reference(outcome), outcome
    return lines if reference is None else [*lines, *task_notes.notes_of_resolution(reference)]


def _verdict(outcome: Outcome, files: TaskFiles, n_problems: int, *, withheld: bool) -> str:
    if isinstance(outcome, InvalidTaskError) or n_problems:
        return f"{counted(n_problems, 'problem')}: invalid"
    reference = outcome.reference if isinstance(outcome, Task) else outcome
    more = [] if withheld else [f"{len(reference.grid.names) if reference else 'unknown'} hyperparameters"]
    if isinstance(outcome, Task):
        outputs = f"outputs are {task_notes.outputs_of(outcome)}"
        samples = [] if withheld else [f"{outcome.data.n_samples} training samples", outputs]
        parts = [f"{len(outcome.models)} models", *more, *samples]
    else:
        parts = [f"reference data of {len(outcome.models)} models", *more, "no models to run"]
    if files.hidden:
        parts.append("hidden")
    return f"{', '.join(parts)}: valid"
