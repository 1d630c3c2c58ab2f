"""`pgdl codabench collect`, `submissions` and `publish`: the work on an open phase of a competition."""

from pathlib import Path

import click

import pgdl
from harness.cli import options
from harness.credentials import Address
from harness.printing import say
from harness.text import counted

TOML = click.argument("toml", metavar="TOML", type=click.Path(path_type=Path))
PAGE = click.argument("page", metavar="URL", callback=options.parse_address)
PHASE = click.option("--phase", metavar="NAME", help="Phase of the competition; needed if there are several.")
TOKEN = click.option(
    "--token-file", metavar="FILE", type=click.Path(path_type=Path),
    help="File with an organiser's token for URL. Default: the variable CODABENCH_TOKEN.",
)  # fmt: skip
ALLOW_HTTP = click.option(
    "--allow-http", "readable", metavar="HOST", multiple=True,
    help="Ask this host, or its storage, without encryption; others may then read the token and the files.",
)  # fmt: skip


@click.command()
@TOML
@click.argument("source", metavar="URL|DIR", callback=options.parse_address)
@PHASE
@click.option(
    "--downloads", metavar="DIR", type=click.Path(path_type=Path), default="exports", show_default=True,
    help="Directory that keeps files from URL, in a folder for each phase; they are not downloaded again.",
)  # fmt: skip
@click.option(
    "--rerun", "share", metavar="SHARE", type=click.FloatRange(0, 1), default=0.1, show_default=True,
    help="Share of the calls of each submission, at least 8, that are drawn at random and made again; 0 draws no call.",
)  # fmt: skip
@TOKEN
@ALLOW_HTTP
@options.results
@options.html("a site of the board to this directory.")
def collect(
    toml: Path, source: Address, phase: str | None, downloads: Path, share: float, token_file: Path | None,
    readable: tuple[str, ...], results: Address, html: Path | None,
) -> None:  # fmt: skip
    """Check the results of a public phase and add them to a database; with --html, write the site.

    TOML describes the competition, URL is its page: files are downloaded by an organiser's token, and the same command
    continues after an interruption. DIR has such files, NAME.zip and results/NAME.zip. A result counts if its records
    are of the files that were handed in, and if calls that are made again here have the same values. Other results are
    left out and named.

    Example: pgdl codabench collect competition.toml https://www.codabench.org/competitions/ID/ --phase Feedback
    """
    from harness.cli.terminal import Terminal
    from harness.tables import wide_console

    with Terminal(wide_console()) as progress:
        found = pgdl.collect_results(
            toml, source, phase=phase, downloads=downloads, share=share, organiser=pgdl.Organiser(token_file, readable),
            results=results, html=html, progress=progress,
        )  # fmt: skip
    proof = f"{counted(found.proved, 'call')} made again" if share else "none of them made again"
    there = counted(found.submissions, "submission")
    say(f"{found.phase}: {there}, {counted(found.calls, 'new call')} in {results}; {proof}")
    if html is not None:
        say(f"Written and verified: {html}, digest of all records: {found.head}")


@click.command()
@TOML
@PAGE
@PHASE
@options.output("the submissions and their table to this directory.", required=True)
@TOKEN
@ALLOW_HTTP
def submissions(
    toml: Path, page: Address, phase: str | None, output: Path, token_file: Path | None, readable: tuple[str, ...]
) -> None:
    """Download the submission of each participant that counts, and write a table of these, DIR/submissions.csv.

    TOML describes the competition, URL is its page. The submission on the platform's board counts, or else the last
    whose file was written before the end of the phase. TOML says when the phase ends, since on the platform everybody
    can change the end. The same command continues after an interruption.

    Example: pgdl codabench submissions competition.toml https://www.codabench.org/competitions/ID/ --phase Final
    --output final
    """
    from harness.cli.terminal import Terminal
    from harness.codabench.downloads import TABLE
    from harness.tables import wide_console

    with Terminal(wide_console()) as progress:
        name, number = pgdl.download_submissions(
            toml, page, output, phase=phase, organiser=pgdl.Organiser(token_file, readable), progress=progress
        )
    say(f"{name}: {counted(number, 'submission')} in {output}, listed in {output / TABLE}")


@click.command()
@PAGE
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path, exists=True))
@PHASE
@TOKEN
@ALLOW_HTTP
@options.results
@options.tasks
@options.task
def publish(
    page: Address, directory: Path, phase: str | None, token_file: Path | None, readable: tuple[str, ...],
    results: Address, tasks_dir: Path, task_names: tuple[str, ...],
) -> None:  # fmt: skip
    """Put the scores of our own board on the platform's board, in its column `final`.

    URL is the page of the competition, DIR what `pgdl codabench submissions` wrote.
    Only the board at home counts: on the platform, organisers can change a score, and at present every user can remove
    scores.

    Example: pgdl codabench publish https://www.codabench.org/competitions/ID/ final --phase Final --task secret_task
    --results final.db
    """
    from harness.cli.terminal import Terminal
    from harness.tables import wide_console

    with Terminal(wide_console()) as progress:
        name, number = pgdl.publish_scores(
            page, directory, phase=phase, organiser=pgdl.Organiser(token_file, readable), results=results,
            tasks_dir=tasks_dir, task_names=task_names, progress=progress,
        )  # fmt: skip
    say(f"{name}: {counted(number, 'score')} on the board of {page}")
