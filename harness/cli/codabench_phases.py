"""`pgdl codabench collect`, `submissions` and `publish`: the work on an open phase of a competition."""

from pathlib import Path
from typing import Any

import click

import pgdl
from harness.cli import options
from harness.cli.outputs import prepare_site
from harness.credentials import Address
from harness.printing import say
from harness.text import counted

TOML = click.argument("competition", metavar="TOML", type=click.Path(path_type=Path))
PAGE = click.argument("page", metavar="URL", callback=options.parse_address)
PHASE = click.option("--phase", metavar="NAME", help="Phase of the competition; needed if there are several.")
TOKEN = click.option(
    "--token-file", metavar="FILE", type=click.Path(path_type=Path),
    help="File with an organiser's token for URL. Default: the variable CODABENCH_TOKEN.",
)  # fmt: skip
ALLOW_HTTP = click.option(
    "--allow-http", "readable", metavar="HOST", multiple=True,
    help="Send requests to this host, or its storage, without encryption: others may read the token and the files.",
)  # fmt: skip


@click.command()
@TOML
@click.argument("source", metavar="URL|DIR", callback=options.parse_address)
@PHASE
@click.option(
    "--downloads", metavar="DIR", type=click.Path(path_type=Path), default="exports", show_default=True,
    help="Directory of the files from URL, in a folder for each phase. Files that are there are not downloaded again.",
)  # fmt: skip
@click.option(
    "--rerun", "share", metavar="SHARE", type=options.NumberRange(0, 1), default=0.1, show_default=True,
    help="Share of the calls of each submission that is drawn at random, at least 8 calls, and made again; 0: no call.",
)  # fmt: skip
@TOKEN
@ALLOW_HTTP
@options.results
@options.html("a site of the board to this directory.")
def collect(
    share: float, token_file: Path | None, readable: tuple[str, ...], results: Address, html: Path | None, **asked: Any
) -> None:
    """Check the results of a public phase and add them to a database; with --html, write the site.

    TOML describes the competition, URL is its page: files are downloaded by an organiser's token, and the same command
    continues after an interruption. DIR has files NAME.zip and results/NAME.zip. A result counts if its records
    belong to the submitted files, and if the calls that are made again here have the same values. Other results are
    left out, and a line names each.

    Example: pgdl codabench collect competition.toml https://www.codabench.org/competitions/ID/ --phase Feedback
    """
    from harness.cli.terminal import Terminal

    prepare_site(html)
    with Terminal() as progress:
        organiser = pgdl.Organiser(token_file, readable)
        found = pgdl.collect_results(
            **asked, share=share, organiser=organiser, results=results, html=html, progress=progress
        )
    new = f"{counted(found.submissions, 'submission')}, {counted(found.calls, 'new call')} in {results}"
    say(f"{found.phase}: {new}; {counted(found.proved, 'call') if share else 'none of them'} made again")
    if html is not None:
        say(f"Written and verified: {html}, digest of all records: {found.head}")


@click.command()
@TOML
@PAGE
@PHASE
@options.output("the submissions and their table to this directory.", required=True)
@TOKEN
@ALLOW_HTTP
def submissions(output: Path, token_file: Path | None, readable: tuple[str, ...], **asked: Any) -> None:
    """Download one submission of each participant, and list these submissions in PATH/submissions.csv.

    TOML describes the competition, URL is its page. The chosen submission is the one on the platform's board, otherwise
    the last whose file was written before the end of the phase. This end is read from TOML, not from the platform,
    where everybody can change it. The same command continues after an interruption.

    Example: pgdl codabench submissions competition.toml https://www.codabench.org/competitions/ID/ --phase Final
    --output final
    """
    from harness.cli.terminal import Terminal
    from harness.codabench.downloads import TABLE

    with Terminal() as progress:
        organiser = pgdl.Organiser(token_file, readable)
        name, number = pgdl.download_submissions(**asked, output=output, organiser=organiser, progress=progress)
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
def publish(page: Address, token_file: Path | None, readable: tuple[str, ...], **asked: Any) -> None:
    """Put the scores of our own board on the platform's board, in its column `final`.

    URL is the page of the competition, DIR the directory that `pgdl codabench submissions` has written. Only our own
    board counts: on the platform, organisers can change a score, and at present every user can remove scores.

    Example: pgdl codabench publish https://www.codabench.org/competitions/ID/ final --phase Final --task secret_task
    --results final.db
    """
    from harness.cli.terminal import Terminal

    with Terminal() as progress:
        organiser = pgdl.Organiser(token_file, readable)
        name, number = pgdl.publish_scores(page, **asked, organiser=organiser, progress=progress)
    say(f"{name}: {counted(number, 'score')} on the board of {page}")
