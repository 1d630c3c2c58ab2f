"""`pgdl codabench`: competitions on Codabench."""

from pathlib import Path

import click

from harness.cli import codabench_collect, codabench_programs, codabench_submissions, options
from harness.printing import say
from harness.text import counted, size


@click.group(name="codabench")
def command() -> None:
    """Host a competition on Codabench: write its bundle, collect results, evaluate hidden phases at home.

    docs/codabench.md says how, from the description of a competition to its verified board.
    """


@command.command()
@click.argument("file", metavar="TOML", type=click.Path(path_type=Path))
@options.output("the bundle to this file, a zip.", required=True)
def bundle(file: Path, output: Path) -> None:
    """Write the bundle of the competition that TOML describes: one file to upload.

    Everybody can download what is in a bundle. Hidden tasks stay at home: the bundle is searched for their names and
    files. The same files give the same bundle, byte for byte.

    Example: pgdl codabench bundle competition.toml --output bundle.zip
    """
    from harness.cli.terminal import Terminal, note
    from harness.codabench.bundle import write_bundle
    from harness.tables import wide_console

    with Terminal(wide_console()) as progress:
        phases = write_bundle(file, output, progress.step)
    for one in phases:
        if one.shortage:
            note(one.shortage)
        kind = "hidden, checked on" if one.phase.hidden else "public,"
        say(f"{one.phase.name}: {kind} {', '.join(one.phase.public_tasks)}")
    say(f"Written and valid: {output}, {size(output.stat().st_size)}")


@command.command()
@click.argument("file", metavar="BUNDLE", type=click.Path(path_type=Path))
@click.option(
    "--competition", metavar="TOML", type=click.Path(path_type=Path),
    help="The description that it was made from: BUNDLE is searched for names and files of its hidden tasks.",
)  # fmt: skip
def validate(file: Path, competition: Path | None) -> int:
    """Check a bundle by Codabench's own rules; print every problem in one line. Exit code 2 if there is any.

    Example: pgdl codabench validate bundle.zip --competition competition.toml
    """
    from harness.codabench.competition import read_competition
    from harness.codabench.validation import validate_bundle

    problems = validate_bundle(file, read_competition(competition) if competition else None)
    for line in problems:
        say(line)
    say(f"{file}: {counted(len(problems), 'problem')}" if problems else f"{file}: valid")
    return 2 if problems else 0


codabench_collect.add_to(command)
codabench_submissions.add_to(command)
codabench_programs.add_to(command)
