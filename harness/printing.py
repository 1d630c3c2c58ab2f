"""The gate of all text to the terminal: content of strangers can neither control it nor pass for lines of the program.

Consoles, for tables and progress, are in harness/tables.py; no other module prints (`tests/test_printing.py`).
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
    """Print lines, by default an empty line, on standard output or standard error; `options` as for `click.secho`.

    A terminal breaks them between words.
    """
    width = _terminal_width(sys.stderr if err else sys.stdout)
    for line in lines or ("",):
        text = safe_line(str(line))
        for part in wrapped(text, width) if width and len(text) > width else [text]:
            click.secho(part, err=err, reset=bool(options), **options)


def _terminal_width(stream: TextIO) -> int:
    """Return the number of columns of the terminal behind a stream, 0 if there is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # no terminal; a stream of another program without a descriptor
        return 0


def put(content: str | bytes) -> None:
    """Write content for programs to standard output, byte for byte; on a terminal, its lines are made printable."""
    with output() as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def output() -> Iterator[BinaryIO]:
    """Return a stream for the content of `put`."""
    if not sys.stdout.isatty():
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    content = io.BytesIO()
    yield content
    for line in content.getvalue().decode(errors="replace").splitlines():
        click.secho(safe_line(line), reset=False)


def ask(question: str) -> bool:
    """Ask the user a question; the answer is no without a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty() and click.confirm(safe_line(question), err=True)


def say_usage(error: click.ClickException) -> None:
    """Print click's message on wrong arguments, which quotes them."""
    said = io.StringIO()
    error.show(said)
    say(*said.getvalue().splitlines(), err=True)


def take_over() -> None:
    """From now on, also print warnings of libraries, and errors that end a thread, in place of Python."""

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
