"""The worker as the first process of a container: it talks to the harness through its standard streams."""

from base64 import b64decode
from pathlib import Path
from typing import NoReturn

from harness.worker.channel import Channel, move_streams
from harness.worker.confinement import filter_system_calls
from harness.worker.main import serve
from harness.worker.runtimes import RUNTIMES


def main(program: str, runtime: str, submission: Path, model_directory: Path, data_directory: Path) -> NoReturn:
    """Serve one call over standard input and output. `program` is the system-call filter (BPF in Base64)."""
    filter_system_calls(b64decode(program))
    channel = Channel(*move_streams())
    chosen = RUNTIMES[runtime]
    chosen.import_libraries()
    serve(channel, chosen, submission, model_directory, data_directory)
