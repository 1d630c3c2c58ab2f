"""`pgdl compare`: a table of the library's measures on every model of every task."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import formats, options
from harness.cli.options import ALL
from harness.errors import UserError

if TYPE_CHECKING:
    from harness.board.board import Board
    from harness.format.reference import Reference
    from harness.submission import Submission
    from harness.task.task import Task

#: Suffixes of the plots that are written in addition to the tables.
PLOTS = (".png", ".svg")


@click.command("compare")
@options.measures
@options.tasks
@options.task
@options.results
@options.output
@options.execution
@options.force
@formats.option
@options.quiet
def command(
    measures: tuple[str, ...],
    tasks_dir: Path,
    task_names: tuple[str, ...],
    results: str,
    output: Path | None,
    force: bool,
    form: str,
    quiet: bool,
    **execution: Any,
) -> int:
    """Run measures of the library on every model of every task, and compare their scores in one table.

    Calls are made and recorded as by pgdl run; repeating the command makes only the missing calls. With
    --output the table is also written in every file format, for instance to PATH.csv, PATH.tex (LaTeX, booktabs) and
    PATH.parquet (a row per measure and task), and plotted to PATH.png and PATH.svg. Exit code 1 if a call failed.

    Example: pgdl compare --measures norm,margin,vc_dim:image_side=8 --output tables/norms
    """
    from harness.board.comparison import compare
    from harness.board.oracle import score_oracle
    from harness.cli.calls import prepare_run, record_calls
    from harness.cli.setup import UNSAFE
    from harness.format.files import make_directory
    from harness.records import Records
    from harness.tables import wide_console

    console = wide_console(quiet=quiet or form != formats.TABLE)
    chosen = choose(measures)
    families = {submission.name: family for submission, family in chosen}
    if output is not None:
        make_directory(output.parent)
    run = prepare_run([submission for submission, _ in chosen], tasks_dir, task_names, execution)
    references = _require_references(run.tasks, tasks_dir)
    with Records(results) as records:
        plan, _ = record_calls(run, records, console, force=force)
        board = compare(records.newest([call.key for call in plan.calls]), references, families, run.withheld)
    if not quiet:
        formats.show(board, form)
    if not run.setup.executor.is_sandboxed:
        console.print(UNSAFE, style="bold red")
    console.print(f"Records: {records.name}")
    if output is not None:
        oracle = score_oracle(references, run.withheld).score
        written = [*formats.write(board, output), *_plot(board, oracle.mean if oracle else None, output)]
        click.echo(f"Written: {', '.join(map(str, written))}", err=True)
    return 1 if any(row.failures for row in board.rows) else 0


def choose(texts: Iterable[str]) -> "list[tuple[Submission, str]]":
    """Return the measures of the option --measures, each once, with their families; raises `UserError`."""
    import baselines
    from harness.hints import did_you_mean
    from harness.submission import find_baseline

    families = {measure.family for measure in baselines.MEASURES.values()}
    chosen = {}
    for text in texts:
        for part in _parts(text):
            names = [name for name, one in baselines.MEASURES.items() if part in (ALL, one.family)] or [part]
            for name in names:
                submission = find_baseline(name)
                if submission is None:
                    hint = did_you_mean(name, [*baselines.MEASURES, *families, ALL]) or "pgdl measures lists them"
                    raise UserError(f"--measures: no measure or family {name!r}", remedy=hint)
                chosen[name] = submission, baselines.MEASURES[name.partition(":")[0]].family
    return list(chosen.values())


def _parts(text: str) -> list[str]:
    """Split at commas, except those between the parameters of a measure."""
    return [part.strip() for part in re.split(r",(?![^:=,]*=)", text)]


def _require_references(tasks: "Sequence[Task]", tasks_dir: Path) -> "dict[str, Reference]":
    """Return the reference data of all tasks; raises `UserError` if any task has none."""
    missing = [task.name for task in tasks if task.reference is None]
    if missing:
        remedy = "choose tasks that have some with --task"
        raise UserError(f"no reference data of {', '.join(missing)}", file=tasks_dir, remedy=remedy)
    return {task.name: task.reference for task in tasks if task.reference is not None}


def _plot(board: "Board", oracle: float | None, output: Path) -> list[Path]:
    from harness.board.comparison_plot import write_plot

    paths = [output.with_name(output.name + suffix) for suffix in PLOTS]
    write_plot(board.rows, paths, oracle)
    return paths
