"""Options of the commands that ask Codabench's API."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import parse_address
from harness.credentials import Address

if TYPE_CHECKING:
    from harness.codabench.entries import OpenedPhase

TOML = click.argument("toml", metavar="TOML", type=click.Path(path_type=Path))
PAGE = click.argument("page", metavar="URL", callback=parse_address)
PHASE = click.option("--phase", metavar="NAME", help="Phase of the competition; needed if there are several.")
TOKEN = click.option(
    "--token-file", metavar="FILE", type=click.Path(path_type=Path),
    help="File with an organiser's token for URL. Default: the variable CODABENCH_TOKEN.",
)  # fmt: skip
ALLOW_HTTP = click.option(
    "--allow-http", "readable", metavar="HOST", multiple=True,
    help="Ask this host, or its storage, without encryption; others may then read the token and the files.",
)  # fmt: skip


def open_page(page: Address, phase: str | None, token_file: Path | None, readable: tuple[str, ...]) -> "OpenedPhase":
    """Return a phase on the platform; say which hosts are asked without encryption."""
    from harness.cli.terminal import warn
    from harness.codabench.entries import open_phase, split_page
    from harness.codabench.platform import Platform, read_token

    site, number = split_page(page)
    for host in readable:
        warn(f"{host}: asked without encryption where its address says so; others may read the token and the files")
    return open_phase(Platform(site, read_token(token_file), readable), number, phase)
