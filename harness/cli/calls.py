"""Makes and records the calls of a run, for the commands that run submissions."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.cli.setup import Setup, note, prepare, warn
from harness.cli.summary import Tally
from harness.execution.progress import RunProgress
from harness.execution.run import Plan, execute, make_plan, requests_of
from harness.records import Records
from harness.submission import Submission
from harness.task.layout import find_tasks
from harness.task.notes import notes_of
from harness.task.task import Task, read_tasks


@dataclass(frozen=True)
class Run:
    """Submissions to call, the tasks to call them on, and the settings."""

    submissions: Sequence[Submission]
    tasks: Sequence[Task]
    setup: Setup

    @property
    def withheld(self) -> list[str]:
        """Names of the tasks of which only outcomes are shown."""
        return [task.name for task in self.tasks if self.setup.settings.withhold.covers(task.hidden)]


def prepare_run(
    submissions: Sequence[Submission], tasks_dir: Path, task_names: Sequence[str], execution: dict[str, Any]
) -> Run:
    """Read the tasks and turn the options of `options.execution` into a setup; raises `UserError`."""
    files = find_tasks(tasks_dir, task_names)
    setup = prepare(execution, files)
    tasks = read_tasks(files, setup.settings.withhold)
    run = Run(submissions, tasks, setup)
    note_tasks([task for task in tasks if task.name not in run.withheld])
    return run


def note_tasks(tasks: Sequence[Task]) -> None:
    """Print notes on tasks before anything runs, for instance that one has no official score; some name gaps."""
    for task in tasks:
        for line in notes_of(task):
            note(f"{task.name}: {line}")


def record_calls(run: Run, records: Records, console: Console, *, force: bool, repeats: int = 0) -> tuple[Plan, Tally]:
    """Make the calls that are not recorded yet, and show the progress; returns all calls, and a tally of outcomes.

    `repeats` is the number of repetitions of some of the calls (`harness.execution.repeated_models`).
    """
    with run.setup.executor:
        return record_with(run, records, console, force=force, repeats=repeats)


def record_with(run: Run, records: Records, console: Console, *, force: bool, repeats: int = 0) -> tuple[Plan, Tally]:
    """Do the same with an executor whose context has been entered."""
    settings, executor = run.setup.settings, run.setup.executor
    records.warn = warn
    if records.file is not None:
        executor.require_unseen([records.file])
    plan = make_plan(run.submissions, run.tasks, settings, executor, records, force=force, repeats=repeats)
    records.ask(requests_of(plan.calls))
    if plan.recorded:
        console.print(f"{len(plan.recorded)} of {len(plan.calls)} calls are recorded already in {records.name}")
    tally = Tally()
    for row in plan.recorded:
        tally.add(row)
    try:
        # Closing kills what still runs, before the executor goes: also when Ctrl-C comes while a row is shown.
        with (
            RunProgress(plan.missing, console, run.withheld) as progress,
            closing(execute(plan, executor, records, warn)) as rows,
        ):
            for row in rows:
                tally.add(row)
                progress.seen(row)
    except KeyboardInterrupt:
        console.print(f"{tally.total} of {len(plan.calls)} calls are recorded; the same command resumes the run.")
        raise
    return plan, tally
