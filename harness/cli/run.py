"""`pgdl run`: calls submissions on every model of every task."""

from pathlib import Path
from typing import Any

import click

import pgdl
from harness.cli import as_json, completion, options
from harness.credentials import Address


@click.command("run")
@click.argument("submissions", nargs=-1, required=True, metavar="SUBMISSION...", shell_complete=completion.submissions)
@options.tasks
@options.task
@options.results
@options.names
@options.as_files
@options.execution
@options.repeat
@options.force
@options.retry_timeouts
@as_json.option
@options.quiet
def command(
    submissions: tuple[str, ...], tasks_dir: Path, results: Address, form: str, quiet: bool, **asked: Any
) -> int:
    """Call each SUBMISSION, sandboxed and time-limited, on every model of every task.

    A SUBMISSION is a .py file, a directory or a zip with complexity.py, or the name of a measure of the library. The
    name may have parameters, as in vc_dim:image_side=28. Every call is recorded as it ends; repeating the command makes
    only the missing calls. Refused files are left out, and listed with the reasons. Two concurrent runs on one database
    share the work. pgdl score and pgdl board show the results of --repeat, and name submissions that claim to be
    deterministic but are not.

    Example: pgdl run my_measure.py distance_from_init --tasks task_data
    """
    from harness.api.commands import board_command
    from harness.cli.summary import print_summary
    from harness.cli.terminal import Terminal, warn

    console = as_json.console_of(form, quiet=quiet)
    with Terminal(console, quiet=quiet) as progress:
        done = pgdl.run(
            submissions, tasks_dir=tasks_dir, results=results, **options.with_execution(asked), progress=progress
        )
    if form == as_json.JSON:
        as_json.show(done.content, quiet=quiet)
    else:
        print_summary(done, console)
        for line in done.not_deterministic:
            warn(line)
        console.print(f"Next: {board_command(tasks_dir, asked['task_names'], results)}")
    return 0 if done.all_ok else 1
