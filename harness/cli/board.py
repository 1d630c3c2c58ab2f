"""`pgdl board`: the leaderboard."""

from pathlib import Path
from typing import Any

import click

import pgdl
from harness.cli import formats, options
from harness.cli.outputs import prepare_directory, prepare_site
from harness.errors import UserError
from harness.printing import say
from harness.reading import real_path

#: Name of the files of --output, without the suffixes of their formats.
STEM = "leaderboard"


@click.command("board")
@formats.refuse_names("for one submission: pgdl score {0}, or pgdl report {0}")
@options.tasks
@options.task
@options.results
@options.withhold
@options.everything
@formats.option
@formats.columns
@formats.wide
@click.option("--explain", is_flag=True, help="Print the scoring rule and what the columns mean below the table.")
@options.output("the board to this directory, a file in each format.")
@options.html("a site with plots to this directory.")
@click.option("--title", metavar="TEXT", help="With --html: the title of the site. Default: Leaderboard.")
@click.option("--organiser", metavar="TEXT", help="With --html: who runs the board.")
def command(
    form: str, columns: tuple[str, ...], wide: bool, explain: bool, output: Path | None, html: Path | None,
    title: str | None, organiser: str | None, **asked: Any,
) -> None:  # fmt: skip
    """Print the leaderboard of all recorded submissions. --output also writes it in every file format, and --html as
    a static site: the board, a page per submission and task, and the records for `pgdl verify`.

    Needs the reference data of the tasks. A record counts only if the task still has the same model and data. The most
    recently requested version of each submission is shown; all calls of a row have the same seed and limits. Scores on
    hidden tasks are rounded before they are ranked. --columns applies to all formats and the site.
    """
    if html is None and (title or organiser):
        raise UserError("--title" if title else "--organiser", expected="--html PATH with it", remedy="add --html site")
    formats.require_table(form, wide=wide, explain=explain)
    formats.require_directory(output, STEM)
    if html is not None and output is not None and real_path(output).is_relative_to(real_path(html)):
        expected = "a directory outside of --html, which has only a site"
        raise UserError("--output", expected=expected, found=str(output), remedy="name another directory")
    prepare_directory(output)
    prepare_site(html)
    from harness.board.formats import write
    from harness.site import TITLE

    found = pgdl.board(**asked, with_site=html is not None, title=title or TITLE, organiser=organiser or "")
    shown = found.board.with_columns(columns)
    formats.show(shown, form, wide, explain)
    if html is not None and found.site is not None:
        from harness.site import write_site

        head = write_site(found.site.with_columns(columns), html)
        say(f"Written: {html / 'index.html'} (digest of all records: {head})", err=True)
    if output is not None:
        say(f"Written: {', '.join(map(str, write(shown, output / STEM)))}", err=True)
