"""`pgdl check`: a verdict on a submission, from the same sandbox as a full run."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import completion, options

if TYPE_CHECKING:
    from harness.task.some_models import Wanted

#: Models of each task, unless others are named.
MODELS = 3

#: Functions of `harness.cli.check_report` by format; the table is printed as calls end.
WRITERS = {"json": "to_json", "junit": "to_junit", "github": "to_github"}


@click.command("check")
@click.argument("submission", metavar="SUBMISSION", shell_complete=completion.submissions)
@options.tasks
@options.task
@options.models
@click.option(
    "--format", "form", type=click.Choice(["table", *WRITERS]), default="table", show_default=True,
    help="Output format.",
)  # fmt: skip
@options.quiet
@options.execution
def command(
    submission: str,
    tasks_dir: Path,
    task_names: tuple[str, ...],
    models: "Wanted",
    form: str,
    quiet: bool,
    **execution: Any,
) -> int:
    """Try SUBMISSION on a few models: outcome, value, time, memory and output of each, and a forecast of a full run.

    The sandbox and the limits are those of `pgdl run`; nothing is recorded. One call is made twice, to see
    whether the measure is repeatable. For hidden tasks only counts of outcomes are shown. Exit code 1 if a call
    failed. The format junit is XML for CI systems; github adds annotations for GitHub Actions to the table.

    Example: pgdl check my_measure.py
    """
    from harness.cli import check_report
    from harness.cli.calls import prepare_run
    from harness.cli.check_table import CallTable, print_verdict
    from harness.cli.setup import note, warn
    from harness.execution.check import Watch, forecast, try_submission
    from harness.execution.unused_gpu import unused_gpu
    from harness.submission import find_flaw, find_submissions
    from harness.tables import wide_console
    from harness.task.notes import outputs_of
    from harness.task.some_models import require_known

    (found,) = find_submissions([submission], note=note)
    if found.problem is None and not found.is_baseline and (flaw := find_flaw(found.files["complexity.py"])):
        found = replace(found, problem=flaw)
    console = wide_console(quiet=quiet or form in ("json", "junit"))
    if found.problem is not None:  # known without a model
        report = check_report.Report(found)
    else:
        with console.status("reading the tasks") as status:
            run = prepare_run([found], tasks_dir, task_names, execution)
            require_known(run.tasks, models)
            for task in run.tasks:
                if task.name not in run.withheld:
                    console.print(f"{task.name}: outputs are {outputs_of(task)}")
            settings, executor = run.setup.settings, run.setup.executor
            watch = Watch(status.update, CallTable(run.tasks, run.withheld, console).seen)
            with executor:
                trial = try_submission(found, run.tasks, settings, executor, models or MODELS, watch)
        for problem in {unused_gpu(done) for done in trial.done} - {None}:
            warn(str(problem))
        expected = forecast(trial, settings, executor.workers) if trial.passed and not run.withheld else None
        report = check_report.Report(found, trial, expected, run.withheld)
    print_verdict(report, console)
    if form in WRITERS and not quiet:
        click.echo(getattr(check_report, WRITERS[form])(report))
    return 0 if report.passed else 1
