"""`pgdl codabench collect`: what comes back from the platform becomes records, a board and a site."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli import options
from harness.credentials import Address
from harness.errors import UserError
from harness.printing import say


def add_to(group: click.Group) -> None:
    """Add the command to a group."""
    group.add_command(collect)


class _Export(click.Path):
    """A file that exists, or an address."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        address = Address.of(value, "EXPORT|URL")
        return address if address.is_url else super().convert(value, parameter, context)


@click.command()
@click.argument("exports", nargs=-1, required=True, metavar="EXPORT|URL...", type=_Export(path_type=Path, exists=True))
@click.option(
    "--key", "key_file", required=True, metavar="FILE", type=click.Path(path_type=Path),
    help="The key of the competition, beside its TOML file.",
)  # fmt: skip
@click.option("--phase", metavar="NAME", help="Phase to download from URL; needed if there are several.")
@click.option(
    "--downloads", metavar="DIR", type=click.Path(path_type=Path), default="exports", show_default=True,
    help="Where outputs from URL are kept; those that are there are not downloaded again.",
)  # fmt: skip
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File with an organiser's token for URL. Default: the variable CODABENCH_TOKEN.",
)
@options.results
@options.tasks
@options.html
def collect(
    exports: tuple[Path | Address, ...], key_file: Path, phase: str | None, downloads: Path, token_file: Path | None,
    results: Address, tasks_dir: Path, html: Path | None,
) -> None:  # fmt: skip
    """Add the results of submissions on Codabench to a database; with --html, also write the site.

    EXPORT is an "output from the prediction step", as a zip archive or unpacked. It is named after its submission,
    NAME.zip, or lies in a folder of that name as prediction_result.zip. URL is the page of the competition: the outputs
    are downloaded, by an organiser's token; the same command continues after an interruption. What was changed after it
    was written is left out and named; the same files that ran twice under one name count once.

    Examples: pgdl codabench collect exports/*.zip --key competition.key --results final.db --html site

    pgdl codabench collect https://www.codabench.org/competitions/ID/ --phase Final --key competition.key
    """
    from harness.cli.terminal import warn
    from harness.codabench.collection import collect as add
    from harness.codabench.seal import read_key

    if (phase or token_file) and not any(isinstance(export, Address) for export in exports):
        raise UserError("--phase and --token-file", expected="with the page of a competition")
    key = read_key(key_file)
    files = [file for export in exports for file in _files(export, phase, downloads, token_file)]
    found = add(files, key, results)
    for line in found.notes:
        warn(line)
    submissions = f"{found.submissions} submission{'s' if found.submissions > 1 else ''}"
    say(f"{found.phase}: {submissions}, {found.calls} new calls in {results}")
    if html is not None:
        _write_site(found.phase, found.tasks, results, tasks_dir, html)


def _files(export: Path | Address, phase: str | None, downloads: Path, token_file: Path | None) -> Sequence[Path]:
    if isinstance(export, Path):
        return [export]
    from harness.cli.terminal import Terminal, warn
    from harness.codabench.downloads import download
    from harness.codabench.platform import read_token
    from harness.tables import wide_console

    with Terminal(wide_console()) as progress:
        found = download(export, phase, read_token(token_file), downloads, progress.step)
    for line in found.notes:
        warn(line)
    return found.files


def _write_site(title: str, tasks: Sequence[str], results: Address, tasks_dir: Path, html: Path) -> None:
    from harness import api
    from harness.site import write_site

    made = api.board(tasks_dir=tasks_dir, task_names=tasks, results=results, with_site=True, title=title)
    assert made.site is not None
    head = write_site(made.site, html)
    for line in api.verify(html).differences:
        raise UserError("not as computed from its records", file=html, found=line)
    say(f"Written and verified: {html}, digest of all records: {head}")
