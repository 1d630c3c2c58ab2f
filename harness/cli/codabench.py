"""`pgdl codabench`: competitions on Codabench."""

from pathlib import Path

import click

import pgdl
from harness.cli import codabench_phases, options
from harness.printing import say
from harness.text import size

_DIRECTORY = click.Path(path_type=Path, file_okay=False)


@click.group(name="codabench")
def command() -> None:
    """Host a competition on Codabench: write its bundle, collect results, evaluate hidden phases at home.

    pgdl help codabench explains each step, from the description of a competition to its verified board.
    """


@command.command()
@click.argument("file", metavar="TOML", type=click.Path(path_type=Path))
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
    """Call the submission on all models of a phase, and write the result to OUTPUT: the ingestion program.

    The arguments are the directories that Codabench mounts. Calls are ended before the time of the container is over.
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
    """Score the result of a submission, and write scores.json and detailed_results.html: the scoring program."""
    say(pgdl.score_result(program, reference, result, output))
    return 0


for one in (codabench_phases.collect, codabench_phases.submissions, codabench_phases.publish):
    command.add_command(one)
