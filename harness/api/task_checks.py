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
from harness.task.layout import TaskDirectory, TaskFiles, advice_on_damage, require_recordable
from harness.task.task import Task, check_tasks
from harness.text import counted

Outcome = Task | Reference | InvalidTaskError


@dataclass(frozen=True)
class Validated:
    """The result of checking a task."""

    task: str
    verdict: str  #: a line that ends in `valid` or `invalid`
    problems: Sequence[str]  #: empty if the task is valid
    notes: Sequence[str]  #: remarks on a valid public task, or how to mend an invalid task that was built


def validate_tasks(
    tasks_dir: str | Path = DEFAULT_DIRECTORY, task_names: Sequence[str] = (), withhold: str = Withhold.AUTO.value
) -> list[Validated]:
    """Check tasks. Return for each task all its problems; for a hidden task, only their number.

    A fetched, built or imported task is compared with the digests that were written with it. If the cache cannot be
    written, a temporary cache is used. Raise `UserError` for an unknown task.
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
    found = list(outcome.problems) if isinstance(outcome, InvalidTaskError) else []
    if problems := withhold.problems(files, found):
        verdict = f"{counted(len(found), 'problem')}: invalid"
        return Validated(files.name, verdict, problems, advice_on_damage(files.reference))
    assert not isinstance(outcome, InvalidTaskError)
    withheld = withhold.covers(files.hidden)
    return Validated(files.name, _verdict(outcome, files, withheld=withheld), (), [] if withheld else _notes(outcome))


def _check_reference(files: TaskFiles) -> Outcome:
    assert files.reference is not None
    problems = Problems()
    problems.attempt(require_recordable, files.name, files.directory)
    reference = problems.attempt(read_reference, files.reference)
    problems.attempt(lambda: files.hidden)
    problems.lines += changed_since_fetched(files)
    return InvalidTaskError(problems.lines) if problems.lines or reference is None else reference


def _notes(valid: Task | Reference) -> list[str]:
    if isinstance(valid, Task):
        lines, reference = [*task_notes.notes_of(valid), *task_notes.notes_of_initial_weights(valid)], valid.reference
    else:
        lines, reference = task_notes.notes_of_reference(valid), valid
    return lines if reference is None else [*lines, *task_notes.notes_of_resolution(reference)]


def _verdict(valid: Task | Reference, files: TaskFiles, *, withheld: bool) -> str:
    reference = valid.reference if isinstance(valid, Task) else valid
    more = [] if withheld else [f"{len(reference.grid.names) if reference else 'unknown'} hyperparameters"]
    if isinstance(valid, Task):
        outputs = f"outputs are {task_notes.outputs_of(valid)}"
        samples = [] if withheld else [f"{valid.data.n_samples} training samples", outputs]
        parts = [counted(len(valid.models), "model"), *more, *samples]
    else:
        parts = [f"reference data of {counted(len(valid.models), 'model')}", *more, "no models to run"]
    return f"{', '.join([*parts, *['hidden'] * files.hidden])}: valid"
