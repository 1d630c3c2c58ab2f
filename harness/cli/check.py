"""`pgdl check`: a verdict on a submission, from the same sandbox as a full run."""

from typing import Any

import click

from harness.cli import completion, options
from harness.printing import put

#: Format -> name of its function in `harness.api.check_report`; the format `table` is printed as calls end.
WRITERS = {"json": "to_json", "junit": "to_junit", "github": "to_github"}


@click.command("check")
@click.argument("submission", metavar="SUBMISSION", shell_complete=completion.submissions)
@options.tasks
@options.task
@options.models
@options.names
@click.option("--whole-calls", is_flag=True, help="Wait for whole calls, however long they take within the time limit.")
@click.option(
    "--format", "form", type=click.Choice(["table", *WRITERS]), default="table", show_default=True,
    help="Output format.",
)  # fmt: skip
@options.quiet
@options.execution
def command(submission: str, models: int | tuple[str, ...] | None, form: str, quiet: bool, **asked: Any) -> int:
    """Try SUBMISSION on a few models: outcome, value, time and memory of each call, and a forecast of a full run.

    Below the table are the last lines that the first call and each failed call printed, without the frames of libraries
    in tracebacks. The sandbox and the limits are those of `pgdl run`; nothing is recorded. One call is made twice with
    the same seed, to see whether its value is repeatable. A call that takes longer than 25 s is stopped, and replaced
    by calls on growing parts of the training data, so that the verdict takes about two minutes at most. For hidden
    tasks only counts of outcomes are shown. Exit code 1 if SUBMISSION has a flaw or a call failed. The format junit is
    XML for CI systems; github adds annotations for GitHub Actions to the table.

    Example: pgdl check my_measure.py
    """
    from harness.ci.annotations import commands_stopped
    from harness.tables import plain, wide_console

    console = wide_console(quiet=quiet or form in ("json", "junit"))
    with commands_stopped(form == "github"):  # the submission's output may have commands for GitHub
        with console.status(plain(f"reading {submission}")) as status:
            import pgdl  # here: the spinner must not wait for these imports
            from harness.api import check_report
            from harness.api.checks import MODELS
            from harness.cli.check_table import CheckTerminal, print_outputs, print_verdict

            progress = CheckTerminal(console, status)
            asked = options.with_execution(asked)
            report = pgdl.check(submission, models=models or MODELS, **asked, progress=progress)
        print_outputs(report, console)
        print_verdict(report, console)
    if form in WRITERS and not quiet:
        put(getattr(check_report, WRITERS[form])(report) + "\n")
    return 0 if report.passed else 1
