"""`pgdl codabench`: competitions on Codabench."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli import codabench_programs, options
from harness.errors import UserError


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
        click.echo(f"{one.phase.name}: {kind}, {', '.join(one.phase.tasks)}")
    click.echo(f"Written: {output}, {output.stat().st_size / 1e6:.1f} MB")
    click.echo(f"Next: pgdl codabench validate {output}")


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
        click.echo(line)
    click.echo(f"{file}: {len(problems)} problem{'s' if len(problems) > 1 else ''}" if problems else f"{file}: valid")
    return 2 if problems else 0


@command.command()
@click.argument("exports", nargs=-1, required=True, metavar="EXPORT...", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--key", "key_file", required=True, metavar="FILE", type=click.Path(path_type=Path),
    help="The key of the competition, beside its TOML file.",
)  # fmt: skip
@options.results
@options.tasks
@options.html
def collect(exports: tuple[Path, ...], key_file: Path, results: str, tasks_dir: Path, html: Path | None) -> None:
    """Add the results of submissions, as downloaded from Codabench, to a database; with --html, also write the site.

    EXPORT is an "output from the prediction step", as a zip archive or unpacked. It is named after its submission,
    NAME.zip, or lies in a folder of that name as prediction_result.zip. What was changed after it was written is left
    out and named; the same files that ran twice under one name count once.

    Example: pgdl codabench collect exports/*.zip --key competition.key --results final.db --html site
    """
    from harness.cli.terminal import warn
    from harness.codabench.collection import collect as add
    from harness.codabench.seal import read_key

    found = add(exports, read_key(key_file), results)
    for line in found.notes:
        warn(line)
    submissions = f"{found.submissions} submission{'s' if found.submissions > 1 else ''}"
    click.echo(f"{found.phase}: {submissions}, {found.calls} new calls in {results}")
    if html is not None:
        _write_site(found.phase, found.tasks, results, tasks_dir, html)


def _write_site(title: str, tasks: Sequence[str], results: str, tasks_dir: Path, html: Path) -> None:
    from harness import api
    from harness.site import write_site

    made = api.board(tasks_dir=tasks_dir, task_names=tasks, results=results, with_site=True, title=title)
    assert made.site is not None
    head = write_site(made.site, html)
    for line in api.verify(html).differences:
        raise UserError("not as computed from its records", file=html, found=line)
    click.echo(f"Written and verified: {html}, digest of all records: {head}")


codabench_programs.add_to(command)
