"""Runs submissions: reads the tasks, prepares the sandbox, calls each submission on each model, records the calls."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.api.execution import Execution, prepare
from harness.api.progress import Progress
from harness.api.tally import Tally
from harness.credentials import Address
from harness.execution.execute import execute
from harness.execution.executor import Executor
from harness.execution.plan import plan_calls, runtime_of
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
        """Names of the tasks whose results are withheld: only the outcomes of calls on these tasks may be shown."""
        return [task.name for task in self.tasks if self.settings.withhold.covers(task.hidden)]

    @property
    def shown(self) -> list[Task]:
        """The tasks whose results may be shown."""
        return [task for task in self.tasks if not self.settings.withhold.covers(task.hidden)]


@contextmanager
def begin_run(
    submissions: Sequence[Submission],
    tasks_dir: Path,
    task_names: Sequence[str],
    execution: Execution,
    progress: Progress,
    *,
    scored: bool = True,
) -> Iterator[Run]:
    """Start the executor, read and check the tasks, and yield the run. The end of the context stops the executor.

    `progress` receives notes on the tasks whose results may be shown; with `scored=False`, no notes on scores and gaps.
    Raise `UserError` if a task is missing or invalid, or if no sandbox works.
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
            for line in notes_of(task, scored=scored):
                progress.note(f"{task.name}: {line}")
        progress.prepared(tasks, run.withheld)
        yield run


def open_records(run: Run, results: Address | Path | str) -> Records:
    """Open the database of a run; create its file if needed. Raise `UserError` if submissions could read this file."""
    require_unseen_records(run, results)
    return Records(results)


def require_unseen_records(run: Run, results: Address | Path | str) -> None:
    """Raise `UserError` if submissions in the run's sandbox could read the database's file."""
    file = Records.file_at(results)
    if file is not None:
        run.executor.require_unseen([file])


def note_initial_weights(tasks: Sequence[Task], progress: Progress) -> None:
    """Send `progress` a note for each task in which models lack initial weights; the note names these models."""
    for task in tasks:
        for line in notes_of_initial_weights(task):
            progress.note(f"{task.name}: {line}")


def record_calls(
    run: Run, records: Records, progress: Progress, *, force: bool = False, retry_timeouts: bool = False,
    repeats: int = 0,
) -> tuple[Plan, Tally]:  # fmt: skip
    """Make and record the calls of a run that have no record yet. Return the plan and the outcomes of all calls.

    Use this within the context of `begin_run`, with the database from `open_records`. `force`, `retry_timeouts` and
    `repeats` are as for `pgdl.run`.
    """
    executor = run.executor
    records.warn = progress.warn
    add_unwritten(records)
    progress.step("planning the calls")
    calls = plan_calls(run.submissions, run.tasks, run.settings, executor, repeats, run.left_out)
    plan = make_plan(calls, records, force=force, retry_timeouts=retry_timeouts)
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
    note_initial_weights([task for task in run.shown if task.name in tally.lacking_initial_weights], progress)
    return plan, tally
