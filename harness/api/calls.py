"""The calls of a run: reads the tasks, prepares the sandbox, makes the calls and records them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.api.execution import Execution, prepare
from harness.api.needs import needs_initial_weights
from harness.api.progress import Progress
from harness.api.tally import Tally
from harness.credentials import Address
from harness.execution.execute import execute
from harness.execution.executor import Executor
from harness.execution.plan import runtime_of
from harness.execution.run import Plan, make_plan, requests_of
from harness.execution.settings import RunSettings
from harness.records import Records, add_unwritten
from harness.submission import Submission
from harness.task.layout import TaskDirectory
from harness.task.task import Task, read_tasks
from harness.task.task_notes import notes_of, notes_of_initial_weights
from harness.text import counted


@dataclass(frozen=True)
class Run:
    """The submissions of a run, the tasks on which they are called, and the settings of the calls."""

    submissions: Sequence[Submission]
    tasks: Sequence[Task]
    settings: RunSettings
    executor: Executor
    #: (measure, task) -> why the measure is not called on the task
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def withheld(self) -> list[str]:
        """Names of the withheld tasks. Of the calls on them, only the outcomes may be shown."""
        return [task.name for task in self.tasks if self.settings.withhold.covers(task.hidden)]

    @property
    def shown(self) -> list[Task]:
        """The tasks that are not withheld. Notes may name their models and gaps."""
        return [task for task in self.tasks if task.name not in self.withheld]


@contextmanager
def begin_run(
    submissions: Sequence[Submission],
    tasks_dir: Path,
    task_names: Sequence[str],
    execution: Execution,
    progress: Progress,
) -> Iterator[Run]:
    """Read and check the tasks while the executor gets ready for calls, and yield the run in the executor's context.

    Notes on the tasks that are not withheld go to `progress`, for instance that a task has no official score. The notes
    mention missing initial weights only if a measure needs these weights (`harness.api.needs`).

    Raises:
        UserError: a task is missing or invalid, or no sandbox works.
    """
    files = TaskDirectory(tasks_dir).runnable(task_names)
    progress.step("trying the sandbox")
    settings, executor = prepare(execution, files, progress)
    with executor:
        executor.expect({runtime_of(submission, settings) for submission in submissions})
        progress.step(f"reading {counted(len(files), 'task')}")
        tasks = read_tasks(files, settings.withhold)
        run = Run(submissions, tasks, settings, executor)
        for task in run.shown:
            for line in notes_of(task):
                progress.note(f"{task.name}: {line}")
        if needs_initial_weights(submissions):
            note_initial_weights(run.shown, progress)
        progress.prepared(tasks, run.withheld)
        yield run


def open_records(run: Run, results: Address | Path | str) -> Records:
    """Open and return a run's records. If submissions could read their file, raise `UserError` and create no file."""
    require_unseen_records(run, results)
    return Records(results)


def require_unseen_records(run: Run, results: Address | Path | str) -> None:
    """Raise `UserError` if the run's submissions could read the file of the records."""
    file = Records.file_at(results)
    if file is not None:
        run.executor.require_unseen([file])


def note_initial_weights(tasks: Sequence[Task], progress: Progress) -> None:
    """Send a note on each task with models that lack their initial weights. The note names these models."""
    for task in tasks:
        for line in notes_of_initial_weights(task):
            progress.note(f"{task.name}: {line}")


def record_calls(
    run: Run, records: Records, progress: Progress, *, force: bool = False, retry_timeouts: bool = False,
    repeats: int = 0, planned: Callable[[Plan], None] = lambda _: None,
) -> tuple[Plan, Tally]:  # fmt: skip
    """Make the calls of a run that are not recorded yet, and return the plan of all calls with a tally of outcomes.

    Call it within the context of `begin_run`, with the records of `open_records`. `force` makes all recorded calls
    again, and `retry_timeouts` some of them (`harness.execution.run.make_plan`). `repeats` is the number of repetitions
    of some calls (`harness.execution.repeated_models`). `planned` is called with the plan before any call.
    """
    executor = run.executor
    records.warn = progress.warn
    add_unwritten(records)
    progress.step("planning the calls")
    plan = make_plan(
        run.submissions, run.tasks, run.settings, executor, records,
        force=force, retry_timeouts=retry_timeouts, repeats=repeats, left_out=run.left_out,
    )  # fmt: skip
    planned(plan)
    records.ask(requests_of(plan.calls))
    tally = Tally()
    for recorded in plan.recorded:
        tally.add(recorded)
    progress.started(plan, records.name)
    try:
        # A claim keeps other runs from making the same call. Closing releases the claims even after Ctrl-C.
        with closing(execute(plan, executor, records, progress.warn, progress.step)) as ended:
            for call in ended:
                tally.add(call)
                progress.advanced(call)
    finally:
        progress.finished(tally.total, len(plan.calls))
    if line := tally.starved_note(run.withheld):
        progress.warn(line)
    if not needs_initial_weights(run.submissions):  # otherwise `begin_run` has sent the notes
        note_initial_weights([task for task in run.shown if task.name in tally.lacking_initial_weights], progress)
    return plan, tally
