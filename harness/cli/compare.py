"""`pgdl compare`: a table of the library's measures on every model of every task."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pgdl
from harness.cli import formats, options
from harness.cli.outputs import prepare_directory

if TYPE_CHECKING:
    from harness.board.board import Board

#: Suffixes of the plots that are written in addition to the tables.
PLOTS = (".png", ".svg")

#: The options that may be combined with --recorded: they do not affect how calls are made.
WITHOUT_CALLS = ("measures", "tasks_dir", "task_names", "results", "withhold", "published")


@click.command("compare")
@formats.refuse_names("name measures with --measures {0}")
@options.measures
@options.tasks
@options.task
@options.results
@options.output("the table and plots to files whose names begin with PATH, such as PATH.csv and PATH.png.")
@options.execution
@options.force
@options.retry_timeouts
@formats.option
@formats.columns
@formats.wide
@click.option(
    "--published", metavar="CORPUS",
    help="Show published scores on the tasks of a corpus beside the computed scores: pgdl2020 (pgdl help pgdl2020).",
)  # fmt: skip
@click.option(
    "--recorded", is_flag=True,
    help="Make no calls: compare recorded values, also on a machine without models or sandboxes.",
)  # fmt: skip
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Show only the best N measures, in every format.")
@options.quiet
def command(
    output: Path | None, form: str, columns: tuple[str, ...], wide: bool, recorded: bool, top: int | None,
    quiet: bool, **asked: Any,
) -> int:  # fmt: skip
    """Run measures of the library on every model of every task, and compare their scores in one table.

    Calls are made and recorded as by pgdl run; repeating the command makes only the missing calls. With
    --output the table is also written in every file format, for instance to PATH.csv, PATH.tex (LaTeX, booktabs) and
    PATH.parquet (a row per measure and task), and plotted to PATH.png and PATH.svg. Exit code 1 if a call failed, even
    for a measure that --top leaves out. With --recorded no call is made. If a measure is recorded with several
    settings, the table shows the calls with the settings that were requested last.

    Examples: pgdl compare --measures norm,margin,vc_dim:image_side=8 --output tables/norms, and
    pgdl compare --recorded --results results.db --top 20
    """
    from harness.board.formats import write
    from harness.cli.terminal import Terminal, written
    from harness.tables import wide_console

    formats.require_table(form, wide=wide)
    formats.require_stem(output, PLOTS)
    console = wide_console(quiet=quiet or form != formats.TABLE)
    prepare_directory(output and output.parent)
    if recorded:
        options.require_not_given(asked.keys() - WITHOUT_CALLS, "--recorded makes no calls")
        found = pgdl.compare_recorded(**{name: asked[name] for name in WITHOUT_CALLS})
    else:
        with Terminal(console, quiet=quiet) as progress:
            found = pgdl.compare(**options.with_execution(asked), progress=progress)
    shown = _best(found.board.with_columns(columns), top)
    if not quiet:
        formats.show(shown, form, wide)
    if not found.is_sandboxed:
        console.print(pgdl.UNSAFE, style="bold red")
    console.print(f"Records: {found.records}")
    if output is not None:
        oracle = shown.yardsticks.oracle.score
        written([*write(shown, output), *_plot(shown, oracle.mean if oracle else None, output)], quiet=quiet)
    return 1 if found.failed else 0


def _best(board: "Board", number: int | None) -> "Board":
    """Return the board with its first `number` rows. Their ranks and comparisons still refer to all rows."""
    if number is None or number >= len(board.rows):
        return board
    rest = "ranks, p-values and intervals refer to all measures"
    line = f"The best {number} of {len(board.rows)} measures; {rest}."
    return replace(board, rows=board.rows[:number], remarks=[line, *board.remarks])


def _plot(board: "Board", oracle: float | None, output: Path) -> list[Path]:
    from harness.board.comparison_plot import write_plot

    paths = [output.with_name(output.name + suffix) for suffix in PLOTS]
    write_plot(board.rows, paths, oracle)
    return paths
