"""`pgdl codabench`: competitions on Codabench, from the bundle to the scores of an open phase."""

import functools
from pathlib import Path
from typing import Any

import click

import pgdl
from harness.cli import options
from harness.cli.outputs import prepare_site
from harness.credentials import Address
from harness.printing import say
from harness.text import counted, size

_DIRECTORY = options.NonemptyPath(path_type=Path, file_okay=False)
_TOML = click.argument("competition", metavar="TOML", type=options.PATH)
_PAGE = click.argument("page", metavar="URL", callback=options.parse_address)
_PHASE = click.option("--phase", metavar="NAME", help="Phase of the competition; needed if there are several.")
_TOKEN = click.option(
    "--token-file", metavar="FILE", type=options.PATH,
    help="File with an organiser's token for URL. Default: the variable CODABENCH_TOKEN.",
)  # fmt: skip
_ALLOW_HTTP = click.option(
    "--allow-http", "readable", metavar="HOST", multiple=True,
    help="Send requests to this host, or its storage, without encryption: others may read the token and the files.",
)  # fmt: skip


def _organiser(command: Any) -> Any:
    """Add the options for an organiser's access to the platform; the command receives them as `organiser`."""

    @functools.wraps(command)
    def with_access(token_file: Path | None, readable: tuple[str, ...], **asked: Any) -> None:
        command(organiser=pgdl.Organiser(token_file, readable), **asked)

    return _TOKEN(_ALLOW_HTTP(with_access))


@click.group(name="codabench")
def command() -> None:
    """Host a competition on Codabench: write its bundle, collect results, evaluate hidden phases on your machine.

    pgdl help codabench explains each step, from the description of a competition to its verified board.
    """


@command.command()
@click.argument("file", metavar="TOML", type=options.PATH)
@options.output("the bundle to this file, a zip.", required=True)
def bundle(file: Path, output: Path) -> None:
    """Write the bundle of the competition that TOML describes: one file to upload.

    Everybody can download the contents of a bundle. Therefore the bundle has no hidden tasks: it is searched for their
    names and files. The same files give the same bundle, byte for byte.

    Example: pgdl codabench bundle competition.toml --output bundle.zip
    """
    from harness.cli.terminal import Terminal, note

    with Terminal() as progress:
        phases = pgdl.write_bundle(file, output, progress.step)
    for one in phases:
        if one.shortage:
            note(one.shortage)
        kind = "hidden, checked on" if one.phase.hidden else "public,"
        say(f"{one.phase.name}: {kind} {', '.join(one.phase.public_tasks)}")
    say(f"Written: {output}, {size(output.stat().st_size)}")


@command.command()
@click.argument("program", type=_DIRECTORY)
@click.argument("input_data", type=_DIRECTORY)
@click.argument("submission", type=_DIRECTORY)
@click.argument("output", type=_DIRECTORY)
def ingest(program: Path, input_data: Path, submission: Path, output: Path) -> int:
    """The ingestion program: call the submission on all models of a phase, and write the result to OUTPUT.

    The arguments are the directories that Codabench mounts. Calls are ended before the container's time limit.
    """
    from harness.cli.terminal import Terminal

    with Terminal() as progress:
        result = pgdl.ingest(program, input_data, submission, output, progress)
    if result.problem:
        say(f"pgdl: {result.problem}", err=True)
        return 1
    say(f"Written: {output}")
    return 0


@command.command()
@click.argument("program", type=_DIRECTORY)
@click.argument("reference", type=_DIRECTORY)
@click.argument("result", type=_DIRECTORY)
@click.argument("output", type=_DIRECTORY)
def score(program: Path, reference: Path, result: Path, output: Path) -> int:
    """The scoring program: score the result of a submission, and write scores.json and detailed_results.html."""
    say(pgdl.score_result(program, reference, result, output))
    return 0


@command.command()
@_TOML
@click.argument("source", metavar="URL|DIR", callback=options.parse_address)
@_PHASE
@click.option(
    "--downloads", metavar="DIR", type=options.PATH, default="exports", show_default=True,
    help="Directory of the files from URL, in a folder for each phase. Files that are there are not downloaded again.",
)  # fmt: skip
@click.option(
    "--rerun", "share", metavar="SHARE", type=options.NumberRange(0, 1), default=0.1, show_default=True,
    help="Share of the calls of each submission that is drawn at random, at least 8 calls, and made again; 0: no call.",
)  # fmt: skip
@_organiser
@options.results
@options.html("a site of the board to this directory.")
def collect(share: float, results: Address, html: Path | None, **asked: Any) -> None:
    """Check the results of a public phase and add them to a database; with --html, write the site.

    TOML describes the competition. The results come from URL, the competition's page, with an organiser's token, or
    from DIR, which has files NAME.zip and results/NAME.zip. After an interruption, the same command continues. A result
    counts if its records belong to the submitted files, and if the calls that are made again here have the same
    values. Other results are left out, and a line names each.

    Example: pgdl codabench collect competition.toml https://www.codabench.org/competitions/ID/ --phase Feedback
    """
    from harness.cli.terminal import Terminal

    prepare_site(html)
    with Terminal() as progress:
        found = pgdl.collect_results(**asked, share=share, results=results, html=html, progress=progress)
    new = f"{counted(found.submissions, 'submission')}, {counted(found.calls, 'new call')} in {results}"
    say(f"{found.phase}: {new}; {counted(found.proved, 'call') if share else 'none of them'} made again")
    if html is not None:
        say(f"Written and verified: {html}, digest of all records: {found.head}")


@command.command()
@_TOML
@_PAGE
@_PHASE
@options.output("the submissions and their table to this directory.", required=True)
@_organiser
def submissions(output: Path, **asked: Any) -> None:
    """Download one submission of each participant, and list these submissions in PATH/submissions.csv.

    TOML describes the competition, and URL is its page. A participant's submission on the platform's board is chosen,
    or else the participant's last submission. Submissions whose files were written after the end of the phase do not
    count. The end is read from TOML, not from the platform, where everybody can change it. The same command continues
    after an interruption.

    Example: pgdl codabench submissions competition.toml https://www.codabench.org/competitions/ID/ --phase Final
    --output final
    """
    from harness.cli.terminal import Terminal
    from harness.codabench.downloads import TABLE

    with Terminal() as progress:
        name, number = pgdl.download_submissions(**asked, output=output, progress=progress)
    say(f"{name}: {counted(number, 'submission')} in {output}, listed in {output / TABLE}")


@command.command()
@_PAGE
@click.argument("directory", metavar="DIR", type=options.NonemptyPath(path_type=Path, exists=True))
@_PHASE
@_organiser
@options.results
@options.tasks
@options.task
def publish(page: Address, **asked: Any) -> None:
    """Put the scores of your own board on the platform's board, in its column `final`.

    URL is the page of the competition, DIR the directory that `pgdl codabench submissions` has written. Only your own
    board counts: on the platform, organisers can change a score, and at present every user can remove scores.

    Example: pgdl codabench publish https://www.codabench.org/competitions/ID/ final --phase Final --task secret_task
    --results final.db
    """
    from harness.cli.terminal import Terminal

    with Terminal() as progress:
        name, number = pgdl.publish_scores(page, **asked, progress=progress)
    say(f"{name}: {counted(number, 'score')} on the board of {page}")
