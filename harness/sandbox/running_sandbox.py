"""The interface to a running sandbox, by which the harness watches, measures and kills processes of every kind."""

import os
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from harness.sandbox.processes import Processes

#: Exit status of a worker that was ended by SIGKILL, which is 9 on Linux, where containers run, too.
KILLED = 128 + 9


class StartError(Exception):
    """The sandbox did not start; its output says why."""


class LostError(Exception):
    """A process of the harness outside of the sandbox has ended, and with it the worker; the message names it."""


@dataclass(frozen=True)
class Storage:
    """The storage that a call uses at one moment."""

    scratch_bytes: int = 0
    scratch_files: int = 0
    sockets: int = 0


class RunningSandbox(ABC):
    """A running sandbox with its worker, started in any way."""

    processes: Processes  #: all processes of the call

    def storage(self) -> Storage | None:
        """Return the call's scratch usage and sockets; all zero if other means bound them.

        Return None as long as the harness cannot inspect the sandbox.
        """
        return Storage()

    @abstractmethod
    def exit_status(self) -> int | None:
        """Return the worker's exit status (128 + number for a signal), None while it runs; raises `LostError`."""

    def ran_out_of_memory(self) -> bool:
        """Return whether a memory limit enforced by the kernel ended the call; must not be called after `close`."""
        return False

    @abstractmethod
    def kill(self) -> None:
        """Send SIGKILL to every process."""

    @abstractmethod
    def is_gone(self) -> bool:
        """Return whether every process has ended."""

    def close(self) -> None:  # noqa: B027 - optional
        """Release the descriptors and other resources that the harness holds."""


def memory_file(content: bytes) -> int:
    """Return a descriptor from which a child process reads `content`."""
    descriptor = os.memfd_create("pgdl")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def shell_status(code: int | None) -> int | None:
    """Translate a `subprocess` return code into a shell's: 128 + number for a signal, as bubblewrap does too."""
    return 128 - code if code is not None and code < 0 else code


def storage_of_sandbox(root: str, scratch: tuple[str, ...]) -> Storage:
    """Return the usage of scratch space and network of the sandbox whose root directory is `root`.

    `scratch` are mount points inside the sandbox of in-memory file systems of its own.
    """
    size, files = 0, 0
    try:
        for path in scratch:
            used = os.statvfs(f"{root}{path}")
            size += (used.f_blocks - used.f_bfree) * used.f_frsize
            files += used.f_files - used.f_ffree
        counted = re.search(r"^sockets: used (\d+)", Path(f"{root}/proc/1/net/sockstat").read_text(), re.MULTILINE)
    except (FileNotFoundError, ProcessLookupError):  # the sandbox has ended
        return Storage()
    return Storage(size, files, int(counted[1]) if counted else 0)
