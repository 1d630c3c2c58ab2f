"""`pgdl codabench collect`: what comes back from the platform becomes records, a board and a site."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli import options
from harness.cli.codabench_options import ALLOW_HTTP, PHASE, TOKEN, TOML, open_page
from harness.credentials import Address
from harness.printing import say
from harness.text import counted


def add_to(group: click.Group) -> None:
    """Add the command to a group."""
    group.add_command(collect)


@click.command()
@TOML
@click.argument("source", metavar="URL|DIR", callback=options.parse_address)
@PHASE
@click.option(
    "--downloads", metavar="DIR", type=click.Path(path_type=Path), default="exports", show_default=True,
    help="Where files from URL are kept, in a folder for each phase; they are not downloaded again.",
)  # fmt: skip
@click.option(
    "--rerun", "share", metavar="SHARE", type=click.FloatRange(0, 1), default=0.1, show_default=True,
    help="Share of the calls of each submission that are made again, at random, at least 8; 0 for none.",
)  # fmt: skip
@TOKEN
@ALLOW_HTTP
@options.results
@options.html("a site of the board to this directory.")
def collect(
    toml: Path, source: Address, phase: str | None, downloads: Path, share: float, token_file: Path | None,
    readable: tuple[str, ...], results: Address, html: Path | None,
) -> None:  # fmt: skip
    """Add the results of a public phase to a database, after a look whether they are true; with --html, write the site.

    TOML describes the competition, URL is its page: files are downloaded by an organiser's token, and the same command
    continues after an interruption. DIR has such files, NAME.zip and results/NAME.zip. A result counts if its records
    are of the files that were handed in, and if calls that are made again here have the same values. Others are left
    out and named.

    Example: pgdl codabench collect competition.toml https://www.codabench.org/competitions/ID/ --phase Feedback
    """
    from harness.cli.terminal import Terminal, warn
    from harness.codabench.collection import choose_phase
    from harness.codabench.collection import collect as add
    from harness.codabench.competition import read_competition
    from harness.codabench.downloads import download
    from harness.submission.name import clean
    from harness.tables import wide_console

    competition = read_competition(toml)
    chosen, tasks_dir = choose_phase(competition, phase, toml), Path(competition.tasks)
    directory = downloads / clean(chosen.phase.name) if source.is_url else Path(source.reveal())
    notes: list[str] = []
    with Terminal(wide_console()) as progress:
        if source.is_url:
            opened = open_page(source, chosen.phase.name, token_file, readable)
            found, notes = download(opened, chosen.phase.ends, directory, progress.step, with_results=True)
            names = [one.name for one in sorted(found, key=lambda one: one.submission)]  # the first owner first
        else:
            names = sorted(file.stem for file in directory.glob("*.zip"))
        collected = add(chosen.settings, tasks_dir, directory, names, results, share, progress)
    for line in (*notes, *collected.notes):
        warn(line)
    proof = f"{counted(collected.proved, 'call')} made again" if share else "none of them made again"
    there = counted(collected.submissions, "submission")
    say(f"{chosen.phase.name}: {there}, {counted(collected.calls, 'new call')} in {results}; {proof}")
    if html is not None:
        _write_site(chosen.phase.name, list(chosen.settings.tasks), results, tasks_dir, html)


def _write_site(title: str, tasks: Sequence[str], results: Address, tasks_dir: Path, html: Path) -> None:
    import pgdl
    from harness.errors import UserError
    from harness.site import write_site

    made = pgdl.board(tasks_dir=tasks_dir, task_names=tasks, results=results, with_site=True, title=title)
    assert made.site is not None
    head = write_site(made.site, html)
    for line in pgdl.verify(html).differences:
        raise UserError("not as computed from its records", file=html, found=line)
    say(f"Written and verified: {html}, digest of all records: {head}")
