"""`pgdl run`: submissions on every model of every task."""

from pathlib import Path
from typing import Any

import click

from harness.cli import options


@click.command("run")
@click.argument("submissions", nargs=-1, required=True, metavar="SUBMISSION...")
@options.tasks
@options.task
@options.results
@options.execution
@click.option("--force", is_flag=True, help="Make calls again that are recorded already.")
def command(
    submissions: tuple[str, ...],
    tasks_dir: Path,
    task_names: tuple[str, ...],
    results: str,
    force: bool,
    **execution: Any,
) -> int:
    """Call each SUBMISSION, sandboxed and time-limited, on every model of every task.

    A SUBMISSION is a .py file, a directory or a zip with complexity.py, or the name of a baseline. Every
    call is recorded as it ends; the same command again makes only the calls that are missing.

    Example: pgdl run my_measure.py distance_from_init --tasks task_data
    """
    from harness.cli.setup import prepare, warn
    from harness.cli.summary import Tally, print_summary
    from harness.cli.tables import wide_console
    from harness.execution.progress import RunProgress
    from harness.execution.run import execute, make_plan
    from harness.records import Records
    from harness.submission import find_submissions
    from harness.task.layout import find_tasks, hidden_names
    from harness.task.task import read_tasks

    console = wide_console()
    found = find_submissions(submissions)
    files = find_tasks(tasks_dir, task_names)
    setup = prepare(execution, hidden_names(files))
    tasks = read_tasks(files)
    withheld = [task.name for task in tasks if setup.settings.withhold.covers(task.hidden)]
    with Records(results) as records:
        plan = make_plan(found, tasks, setup.settings, records, force=force)
        if plan.recorded:
            console.print(f"{len(plan.recorded)} of {len(plan.calls)} calls are recorded already in {records.name}")
        tally = Tally()
        for row in plan.recorded:
            tally.add(row.planned.submission.name, row.planned.task.name, row.outcome, row.call_wall_s)
        try:
            with RunProgress(plan.missing, console, withheld) as progress:
                for call, evaluation in execute(plan, setup.settings, setup.lanes, records, warn):
                    tally.add(call.submission.name, call.task.name, evaluation.outcome, evaluation.call_wall_s)
                    progress.seen(call, evaluation)
        except KeyboardInterrupt:
            console.print(f"{tally.total} of {len(plan.calls)} calls are recorded; the same command continues.")
            raise
        sandboxed = setup.settings.sandboxed
        code = print_summary(tally, records.name, console, sandboxed=sandboxed, withheld=withheld)
        console.print(f"Next: pgdl board --tasks {tasks_dir} --results {records.name}", markup=False)
        return code
