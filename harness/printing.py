"""Prints text, so that untrusted content can neither control the terminal nor imitate messages of the program.

Only this module and harness/tables.py, for tables and progress, print (`tests/test_printing.py`).
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
    """Print lines, by default an empty line, on standard output, or on standard error if `err`.

    On a terminal, long lines are broken between words. `options` are those of `click.secho`.
    """
    width = _terminal_width(sys.stderr if err else sys.stdout)
    for line in lines or ("",):
        text = safe_line(str(line))
        for part in wrapped(text, width) if width and len(text) > width else [text]:
            click.secho(part, err=err, reset=bool(options), **options)


def _terminal_width(stream: TextIO) -> int:
    """Return the width in characters of the terminal to which a stream writes; 0 if it writes to no terminal."""
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # no terminal, or a stream without a file descriptor
        return 0


def put(content: str | bytes) -> None:
    """Write content for other programs to standard output. On a terminal, replace unprintable characters in it."""
    with output() as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def output() -> Iterator[BinaryIO]:
    """Yield a stream to standard output like `put`. On a terminal, the content appears when the context is left."""
    if not sys.stdout.isatty():
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    content = io.BytesIO()
    yield content
    for line in content.getvalue().decode(errors="replace").splitlines():
        click.secho(safe_line(line), reset=False)


def ask(question: str) -> bool:
    """Return the user's answer to a yes-or-no question; False without a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty() and click.confirm(safe_line(question), err=True)


def say_usage(error: click.ClickException) -> None:
    """Print click's message about wrong arguments."""
    said = io.StringIO()
    error.show(said)
    say(*said.getvalue().splitlines(), err=True)


def take_over() -> None:
    """Make Python print warnings of libraries, and errors that end a thread, by `say` from now on."""

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
