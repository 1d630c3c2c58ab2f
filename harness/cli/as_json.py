"""The option `--format json`: JSON on standard output, and everything for people on standard error (docs/json.md)."""

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from harness.printing import put

if TYPE_CHECKING:
    from rich.console import Console

JSON = "json"

option = click.option(
    "--format", "form", type=click.Choice(["table", JSON]), default="table", show_default=True,
    help="Output format.",
)  # fmt: skip


def console_of(form: str, *, quiet: bool = False) -> "Console":
    """Return the console for progress and notes: on standard error if standard output has JSON."""
    from harness.tables import wide_console

    return wide_console(quiet=quiet, stderr=form == JSON)


def show(content: Any, *, quiet: bool = False) -> None:
    """Print content as JSON with all digits; if `quiet`, print nothing. Infinite numbers and NaN become null."""
    if not quiet:
        put(json.dumps(_plain(content), indent=1, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if hasattr(value, "tolist"):  # a scalar or array of NumPy
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)
