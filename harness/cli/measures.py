"""`pgdl measures`: lists the library of measures, and explains each."""

from pathlib import Path

import click
from click.core import ParameterSource

from harness.cli import as_json, completion, options
from harness.names import CHEAP

#: The value of `--cost` without a name.
FORECAST = "forecast"


@click.command("measures")
@click.argument("name", required=False, shell_complete=completion.measures)
@click.option("--family", metavar="NAME", help="List only the measures of this family.")
@click.option(
    "--cost", metavar="NAME", is_flag=False, flag_value=FORECAST,
    help=f"List only the measures of this cost: weights, forward, gradients or many; {CHEAP}: weights or forward. "
    "Without NAME: forecast seconds and memory on the task of --tasks and --task.",
)  # fmt: skip
@options.tasks
@options.task
@as_json.option
@click.pass_context
def command(
    context: click.Context, name: str | None, family: str | None, cost: str | None, tasks_dir: Path,
    task_names: tuple[str, ...], form: str,
) -> None:  # fmt: skip
    """List the measures of the library by family, and measures of installed packages, or explain the measure NAME.

    A measure can be run wherever a submission can. Its cost is weights (it reads weights only), forward (up to three
    forward passes over the training examples that it uses), gradients (up to a forward and backward pass for each
    class) or many (more passes). F is a forward pass, B a forward and backward pass. Other packages add measures by
    entry points (pgdl help measures). Such measures run like submissions, and their code is never imported here.

    With --tasks, --task, or --cost without a value, seconds and memory on a task are forecast: for the measure NAME, or
    without NAME for all listed measures. For the forecast, two passes are timed in the sandbox on the task's smallest
    and largest model: a forward pass, and a forward and backward pass.

    Example: pgdl measures vc_dim, then pgdl run vc_dim:image_side=28, and pgdl measures --cost many --task digits_nin
    """
    from harness.cli import measure_tables
    from harness.submission.installed import installed_measures

    of_cost = None if cost == FORECAST else cost
    named = [] if name is None else [measure_tables.named(name, family, of_cost)]
    chosen = named or measure_tables.filtered(family, of_cost)
    given = [context.get_parameter_source(option) for option in ("tasks_dir", "task_names")]
    if cost == FORECAST or ParameterSource.COMMANDLINE in given:
        measure_tables.show_forecast(chosen, tasks_dir, task_names, form)
        return
    if name is None and family is None and cost is None:
        chosen += installed_measures()
    if form == as_json.JSON:
        objects = [*map(measure_tables.as_object, chosen)]
        as_json.show(objects if name is None else objects[0])
    elif name is None:
        measure_tables.print_measures(chosen)
    else:
        measure_tables.explain(chosen[0])
