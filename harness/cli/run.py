"""`pgdl run`: submissions on every model of every task."""

from pathlib import Path
from typing import Any

import click

from harness.cli import completion, options


@click.command("run")
@click.argument("submissions", nargs=-1, required=True, metavar="SUBMISSION...", shell_complete=completion.submissions)
@options.tasks
@options.task
@options.results
@options.names
@options.execution
@options.force
@options.quiet
def command(
    submissions: tuple[str, ...],
    tasks_dir: Path,
    task_names: tuple[str, ...],
    results: str,
    names: tuple[str, ...],
    force: bool,
    quiet: bool,
    **execution: Any,
) -> int:
    """Call each SUBMISSION, sandboxed and time-limited, on every model of every task.

    A SUBMISSION is a .py file, a directory or a zip with complexity.py, or the name of a baseline, which may
    have parameters, as in vc_dim:image_side=28. Every call is recorded as it ends; repeating the command makes
    only the missing calls. Two concurrent runs on one database share the work.

    Example: pgdl run my_measure.py distance_from_init --tasks task_data
    """
    from harness.cli.calls import prepare_run, record_calls
    from harness.cli.names import settle_names
    from harness.cli.setup import note
    from harness.cli.summary import print_summary
    from harness.records import Records
    from harness.submission import find_submissions
    from harness.tables import wide_console

    console = wide_console(quiet=quiet)
    run = prepare_run(find_submissions(submissions, names, note), tasks_dir, task_names, execution)
    with Records(results) as records:
        for line in settle_names(run.submissions, records, given=bool(names)):
            note(line)
        _, tally = record_calls(run, records, console, force=force)
    sandboxed = run.setup.executor.is_sandboxed
    code = print_summary(tally, records.name, console, sandboxed=sandboxed, withheld=run.withheld)
    console.print(f"Next: pgdl board --tasks {tasks_dir} --results {records.name}")
    return code
