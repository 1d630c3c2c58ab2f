"""The interface of a running sandbox, with which the harness watches, measures and kills the call inside."""

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass

from harness.sandbox.processes import Processes

#: Exit status of a worker that SIGKILL ended. The signal's number is 9 on Linux, and so in containers.
KILLED = 128 + 9


class StartError(Exception):
    """The sandbox did not start; the message or the output of the sandbox says why."""


class LostError(Exception):
    """The worker has ended because a process of the harness, which the message names, has ended."""


@dataclass(frozen=True)
class Storage:
    """The storage that a call uses at one moment."""

    scratch_bytes: int = 0
    scratch_files: int = 0
    sockets: int = 0


class RunningSandbox(ABC):
    """A running sandbox with its worker; each kind of sandbox has a subclass."""

    processes: Processes  #: all processes of the call

    def storage(self) -> Storage | None:
        """Return the used storage; always 0 if the sandbox itself limits storage; None while the use is unknown."""
        return Storage()

    @abstractmethod
    def exit_status(self) -> int | None:
        """Return the worker's exit status (128 + signal), None while it runs. Raise `LostError` if it is unknown."""

    def ran_out_of_memory(self) -> bool:
        """Return whether the kernel ended the call at its memory limit; must be called before `close`."""
        return False

    @abstractmethod
    def kill(self) -> None:
        """Kill every process of the sandbox, without waiting for their end."""

    @abstractmethod
    def is_gone(self) -> bool:
        """Return whether every process of the sandbox has ended."""

    def close(self) -> None:  # noqa: B027 - optional
        """Release the descriptors and other resources that the harness holds."""


def memory_file(content: bytes) -> int:
    """Return a descriptor from which a child process reads `content`."""
    descriptor = os.memfd_create("pgdl")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def shell_status(code: int | None) -> int | None:
    """Convert a return code of `subprocess`: after a kill, -signal becomes 128 + signal, as in shells."""
    return 128 - code if code is not None and code < 0 else code
