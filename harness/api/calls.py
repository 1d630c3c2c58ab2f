"""Makes and records the calls of a run."""

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
    """Submissions to call, the tasks to call them on, and the settings.

    `left_out` has the measures that are not called on a task, as (measure, task), with the reasons.
    """

    submissions: Sequence[Submission]
    tasks: Sequence[Task]
    settings: RunSettings
    executor: Executor
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def withheld(self) -> list[str]:
        """Names of the tasks of which only outcomes are shown."""
        return [task.name for task in self.tasks if self.settings.withhold.covers(task.hidden)]

    @property
    def shown(self) -> list[Task]:
        """The tasks that are not withheld: notes on them may name models and gaps."""
        return [task for task in self.tasks if task.name not in self.withheld]


@contextmanager
def begin_run(
    submissions: Sequence[Submission],
    tasks_dir: Path,
    task_names: Sequence[str],
    execution: Execution,
    progress: Progress,
) -> Iterator[Run]:
    """Read and check the tasks, while the executor, whose context it is, gets ready for calls; raises `UserError`.

    Notes on tasks, for instance about a missing official score, come before the first call. Withheld tasks have no
    notes, because some notes name gaps. Notes mention initial weights only if a measure needs them
    (`harness.api.needs`).
    """
    files = TaskDirectory(tasks_dir).runnable(task_names)
    progress.step("trying the sandbox")
    settings, executor = prepare(execution, files, progress)
    with executor:
        executor.expect({runtime_of(one, settings) for one in submissions})
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
    """Open the records of a run; raises `UserError`, and makes no file, if submissions could read them."""
    require_unseen_records(run, results)
    return Records(results)


def require_unseen_records(run: Run, results: Address | Path | str) -> None:
    """Raise `UserError` if submissions could read the file of these records."""
    file = Records.file_at(results)
    if file is not None:
        run.executor.require_unseen([file])


def note_initial_weights(tasks: Sequence[Task], progress: Progress) -> None:
    """Say which of the tasks' models lack their initial weights, in one line for each task."""
    for task in tasks:
        for line in notes_of_initial_weights(task):
            progress.note(f"{task.name}: {line}")


def record_calls(
    run: Run, records: Records, progress: Progress, *, force: bool = False, retry_timeouts: bool = False,
    repeats: int = 0, planned: Callable[[Plan], None] = lambda _: None,
) -> tuple[Plan, Tally]:  # fmt: skip
    """Make the calls that are not recorded yet; returns all calls, and a tally of outcomes.

    The context of the run's executor has been entered; `records` are those of `open_records`. `force` and
    `retry_timeouts` also make recorded calls (`harness.execution.run.make_plan`). `repeats` is the number of
    repetitions of some of the calls (`harness.execution.repeated_models`). `planned` receives the plan before its first
    call.
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
    for row in plan.recorded:
        tally.add(row)
    progress.started(plan, records.name)
    try:
        # Closing releases the claims: also when Ctrl-C comes while a row is shown.
        with closing(execute(plan, executor, records, progress.warn, progress.step)) as rows:
            for row in rows:
                tally.add(row)
                progress.advanced(row)
    finally:
        progress.finished(tally.total, len(plan.calls))
    if line := tally.starved_note(run.withheld):
        progress.warn(line)
    if not needs_initial_weights(run.submissions):  # otherwise it has been said
        note_initial_weights([task for task in run.shown if task.name in tally.lacking_initial_weights], progress)
    return plan, tally
