"""`pgdl codabench submissions` and `publish`: hidden phases are evaluated at home."""

from pathlib import Path

import click

from harness.cli import options
from harness.cli.codabench_options import ALLOW_HTTP, PAGE, PHASE, TOKEN, TOML, open_page
from harness.credentials import Address
from harness.printing import say
from harness.text import counted


def add_to(group: click.Group) -> None:
    """Add both commands to a group."""
    group.add_command(submissions)
    group.add_command(publish)


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
    """Download the submission of each participant that counts, and write a table of them, DIR/submissions.csv.

    TOML describes the competition, URL is its page. It is the submission on the platform's board, or the last one,
    whose file was written before the end of the phase: TOML says when that is, since on the platform everybody can
    change it. The same command continues after an interruption.

    Example: pgdl codabench submissions competition.toml https://www.codabench.org/competitions/ID/ --phase Final
    --output final
    """
    from harness.cli.terminal import Terminal, warn
    from harness.codabench.competition import position_of, read_competition
    from harness.codabench.downloads import TABLE, download
    from harness.tables import wide_console

    phases = read_competition(toml).phases
    chosen = phases[position_of(phase, [one.name for one in phases], toml)]
    with Terminal(wide_console()) as progress:
        opened = open_page(page, chosen.name, token_file, readable)
        found, notes = download(opened, chosen.ends, output, progress.step, with_results=False)
    for line in notes:
        warn(line)
    say(f"{opened.phase.name}: {counted(len(found), 'submission')} in {output}, listed in {output / TABLE}")


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
    The board at home is the one that counts: on the platform, organisers can change a score, and at present every user
    can remove one.

    Example: pgdl codabench publish https://www.codabench.org/competitions/ID/ final --phase Final --task secret_task
    --results final.db
    """
    import pgdl
    from harness.cli.terminal import warn
    from harness.codabench.publication import publish as put

    rows = pgdl.board(tasks_dir=tasks_dir, task_names=task_names, results=results).board.rows
    opened = open_page(page, phase, token_file, readable)
    done, notes = put(opened, rows, directory)
    for line in notes:
        warn(line)
    say(f"{opened.phase.name}: {counted(done, 'score')} on the board of {page}")
