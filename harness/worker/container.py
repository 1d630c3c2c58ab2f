"""A worker that is the first process of a container, reached through its standard streams alone."""

import os
from base64 import b64decode
from pathlib import Path
from typing import NoReturn

from harness.worker.channel import Channel
from harness.worker.confinement import filter_system_calls
from harness.worker.main import import_libraries, serve


def main(program: str, submission: Path, model_directory: Path, data_directory: Path) -> NoReturn:
    """Serve one call over standard input and output, behind the system-call filter `program` (BPF in base 64)."""
    filter_system_calls(b64decode(program))
    channel = Channel(*move_streams())
    serve(channel, import_libraries(), submission, model_directory, data_directory)


def move_streams() -> tuple[int, int]:
    """Move standard input and output away, where nothing is read or printed by accident; returns where they are.

    What is printed from now on goes where errors go.
    """
    reader, writer = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return reader, writer
