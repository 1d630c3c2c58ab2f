"""The first of `pgdl`, which lets Ctrl-C end it without a traceback while its modules are imported."""

import os
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # otherwise the caller ignores it
        signal.signal(signal.SIGINT, _end)
    from harness.cli.main import main as run  # here: the import takes a tenth of a second

    run()


def _end(*_: object) -> NoReturn:
    os.write(2, b"pgdl: interrupted\n")
    os._exit(130)
