"""Prints text. Untrusted content can neither control the terminal nor look like messages of the program.

No other module prints, except harness/tables.py (tables and progress): `tests/test_printing.py` checks this.
"""

import io
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TextIO

import click

from harness.text import safe_line, wrapped


def say(*lines: object, err: bool = False, **options: Any) -> None:
    """Print lines to standard output, or to standard error if `err`; without lines, print an empty line.

    On a terminal, long lines are broken between words. `options` are those of `click.secho`; as in the tables of rich,
    no text has a colour if the variable NO_COLOR is set.
    """
    if os.environ.get("NO_COLOR"):
        options.pop("fg", None)
    width = _terminal_width(sys.stderr if err else sys.stdout)
    for line in lines or ("",):
        text = safe_line(str(line))
        for part in wrapped(text, width) if width and len(text) > width else [text]:
            click.secho(part, err=err, reset=bool(options), **options)


def _terminal_width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # no terminal, or no file descriptor
        return 0


def put(content: str | bytes) -> None:
    """Write content for other programs to standard output. On a terminal, unprintable characters are replaced."""
    with output() as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def output() -> Iterator[BinaryIO]:
    """Yield a stream whose content is written as by `put`; on a terminal, only when the context ends."""
    if not sys.stdout.isatty():
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    content = io.BytesIO()
    yield content
    for line in content.getvalue().decode(errors="replace").splitlines():
        click.secho(safe_line(line), reset=False)


def ask(question: str) -> bool:
    """Ask the user a question, and return whether the answer is yes. Without a terminal, return False."""
    return sys.stdin.isatty() and sys.stderr.isatty() and click.confirm(safe_line(question), err=True)


def say_usage(error: click.ClickException) -> None:
    """Print click's error message about wrong arguments."""
    said = io.StringIO()
    error.show(said)
    say(*said.getvalue().splitlines(), err=True)


def take_over() -> None:
    """From now on, print warnings of libraries, and errors that end a thread, by `say`."""

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None,
        line: str | None = None,
    ) -> None:  # fmt: skip
        text = warnings.formatwarning(message, category, filename, lineno, line)
        say(*text.splitlines(), err=file is not sys.stdout)

    def show_error(ended: threading.ExceptHookArgs) -> None:
        text = traceback.format_exception(ended.exc_type, ended.exc_value, ended.exc_traceback)
        say(*"".join(text).splitlines(), err=True)

    warnings.showwarning, threading.excepthook = show, show_error
