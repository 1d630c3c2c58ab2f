"""`pgdl run`: submissions on every model of every task."""

import shlex
from dataclasses import replace
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
@options.repeat
@options.force
@options.quiet
def command(
    submissions: tuple[str, ...],
    tasks_dir: Path,
    task_names: tuple[str, ...],
    results: str,
    names: tuple[str, ...],
    repeats: int,
    force: bool,
    quiet: bool,
    **execution: Any,
) -> int:
    """Call each SUBMISSION, sandboxed and time-limited, on every model of every task.

    A SUBMISSION is a .py file, a directory or a zip with complexity.py, or the name of a baseline, which may
    have parameters, as in vc_dim:image_side=28. Every call is recorded as it ends; repeating the command makes
    only the missing calls. Two concurrent runs on one database share the work. pgdl score and pgdl board show what
    --repeat found, and name measures that call themselves deterministic and are not.

    Example: pgdl run my_measure.py distance_from_init --tasks task_data
    """
    from harness.board.repetitions import not_deterministic
    from harness.cli.calls import prepare_run, record_calls
    from harness.cli.commands import results_option
    from harness.cli.names import settle_names
    from harness.cli.setup import note, warn
    from harness.cli.summary import print_summary
    from harness.records import Records
    from harness.submission import find_submissions
    from harness.tables import wide_console

    console = wide_console(quiet=quiet)
    run = prepare_run(find_submissions(submissions, names, note), tasks_dir, task_names, execution)
    with Records(results) as records:
        settled, news = settle_names(run.submissions, records, given=bool(names))
        for line in news:
            note(line)
        run = replace(run, submissions=settled)
        plan, tally = record_calls(run, records, console, force=force, repeats=repeats)
        claims = [one.name for one in run.submissions if one.metadata.deterministic] if repeats else []
        rows = records.newest([call.key for call in plan.calls if call.submission.name in claims])
        varying = not_deterministic(rows, claims, run.withheld)
    sandboxed = run.setup.executor.is_sandboxed
    code = print_summary(tally, records.name, console, sandboxed=sandboxed, withheld=run.withheld)
    for line in varying:
        warn(line)
    console.print(f"Next: pgdl board --tasks {shlex.quote(str(tasks_dir))} {results_option(results)}".rstrip())
    return code
