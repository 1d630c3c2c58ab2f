"""`pgdl codabench`: competitions on Codabench."""

from pathlib import Path

import click

from harness.cli import codabench_collect, codabench_programs, options
from harness.printing import say
from harness.shell import typed
from harness.text import size


@click.group(name="codabench")
def command() -> None:
    """Host a competition on Codabench: write and check its bundle, run its two programs, collect the results.

    docs/codabench.md says how, from the description of a competition to its verified board.
    """


@command.command()
@click.argument("file", metavar="TOML", type=click.Path(path_type=Path))
@options.output_file
def bundle(file: Path, output: Path) -> None:
    """Write the bundle of the competition that TOML describes: one file to upload.

    The key of the competition is the file beside TOML with the suffix .key, drawn at the first time. The same files
    give the same bundle, byte for byte.

    Example: pgdl codabench bundle competition.toml --output bundle.zip
    """
    from harness.cli.terminal import Terminal, note
    from harness.codabench.bundle import write_bundle
    from harness.tables import wide_console

    with Terminal(wide_console()) as progress:
        written = write_bundle(file, output, progress.step)
    for line in written.notes:
        note(line)
    for one in written.phases:
        kind = "hidden" if one.phase.hidden else "public"
        say(f"{one.phase.name}: {kind}, {', '.join(one.phase.tasks)}")
    say(f"Written: {output}, {size(output.stat().st_size)}")
    say(f"Next: {typed('pgdl', 'codabench', 'validate', str(output))}")


@command.command()
@click.argument("file", metavar="BUNDLE", type=click.Path(path_type=Path))
def validate(file: Path) -> int:
    """Check a bundle by Codabench's own rules, and that it keeps its secrets; print every problem in one line.

    Behind each problem stands the place in Codabench's sources. Exit code 2 if there is any.

    Example: pgdl codabench validate bundle.zip
    """
    from harness.codabench.validation import validate_bundle

    problems = validate_bundle(file)
    for line in problems:
        say(line)
    say(f"{file}: {len(problems)} problem{'s' if len(problems) > 1 else ''}" if problems else f"{file}: valid")
    return 2 if problems else 0


codabench_collect.add_to(command)
codabench_programs.add_to(command)
