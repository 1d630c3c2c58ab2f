"""The worker as PID 1 of a container, which talks to the harness through its standard streams."""

import os
from base64 import b64decode
from pathlib import Path
from typing import NoReturn

from harness.worker.channel import Channel, take_input
from harness.worker.confinement import filter_system_calls
from harness.worker.main import serve
from harness.worker.runtimes import RUNTIMES


def main(program: str, runtime: str, submission: Path, model_directory: Path, data_directory: Path) -> NoReturn:
    """Serve one call over standard input and output, under the system-call filter `program` (BPF in Base64)."""
    filter_system_calls(b64decode(program))
    channel = Channel(*move_streams())
    chosen = RUNTIMES[runtime]
    chosen.import_libraries()
    serve(channel, chosen, submission, model_directory, data_directory)


def move_streams() -> tuple[int, int]:
    """Move standard input and output to new descriptors, safe from accidental use; returns these.

    Standard input is then empty, and standard output goes to standard error.
    """
    reader, writer = take_input(), os.dup(1)
    os.dup2(2, 1)
    return reader, writer
