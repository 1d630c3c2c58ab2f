"""The processes behind a worker, whichever way they were started: watched and killed the same way."""

import os
from typing import Protocol

from harness.sandbox.processes import Processes
from harness.sandbox.storage import Storage


class StartError(Exception):
    """The sandbox did not start; what it printed says why."""


class Body(Protocol):
    """What the harness needs of the processes behind a worker."""

    @property
    def processes(self) -> Processes:
        """All processes of the call."""

    def storage(self) -> Storage | None:
        """What the call holds outside of its processes' memory; nothing where that is bounded by other means.

        None as long as the sandbox cannot be looked into.
        """

    def exit_status(self) -> int | None:
        """How the worker ended (128 + number for a signal), None while it runs."""

    def ran_out_of_memory(self) -> bool:
        """Whether a memory limit ended it that the kernel keeps; not to be asked once it is closed."""

    def kill(self) -> None:
        """Send SIGKILL to everything."""

    def is_gone(self) -> bool:
        """Whether everything has ended."""

    def close(self) -> None:
        """Give back what the harness holds of it."""


def memory_file(content: bytes) -> int:
    """Return a descriptor from which a child process reads `content`."""
    descriptor = os.memfd_create("pgdl")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def shell_status(code: int | None) -> int | None:
    """128 + number for a signal, as a shell and bubblewrap have it."""
    return 128 - code if code is not None and code < 0 else code
