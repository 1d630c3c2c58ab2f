"""The processes behind a worker: started one way or another, watched and killed the same way."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import IO, Protocol

from harness.sandbox import bubblewrap
from harness.sandbox.cgroup import CallGroup, RunGroup
from harness.sandbox.job import BOOTSTRAP, Job
from harness.sandbox.limits import Limits
from harness.sandbox.processes import Namespace, Processes, Tree
from harness.sandbox.seccomp import filter_program
from harness.sandbox.storage import Storage, storage_of_sandbox
from harness.worker.limits import limit_process


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


class SandboxBody:
    """bubblewrap around a command in a process namespace of its own, whose first process takes all inside with it."""

    def __init__(
        self,
        options: list[str],
        command: list[str],
        inherited: tuple[int, ...],
        limits: Limits,
        output: int,
        errors: int,
        group: CallGroup | None,
        source: int = subprocess.DEVNULL,
    ) -> None:
        """Start all of it in `group`, which it closes, under the limits of a process: it is kept waiting for them."""
        self.group = group
        (answer, info), (gate, opening) = os.pipe(), os.pipe()
        words = [*options, "--info-fd", str(info), "--block-fd", str(gate)]
        arguments = memory_file(b"".join(word.encode() + b"\0" for word in words))
        with os.fdopen(answer, "rb") as described, os.fdopen(opening, "wb"):
            try:
                entrance = group.entrance if group else []
                self._process = subprocess.Popen(
                    [*entrance, bubblewrap.executable(), "--args", str(arguments), "--", *command],
                    env={}, stdin=source, stdout=output, stderr=errors, cwd="/",
                    pass_fds=(*inherited, info, gate, arguments), start_new_session=True,  # Ctrl-C is for the harness
                )  # fmt: skip
            finally:
                for descriptor in (info, gate, arguments):
                    os.close(descriptor)
            try:
                pid = self._admit(described, limits)
            except StartError:
                self._process.wait()
                if group:
                    group.close()
                raise
            self.pidfd = os.pidfd_open(pid)
            self.processes = Namespace(pid)

    def _admit(self, described: IO[bytes], limits: Limits) -> int:
        """Limit the first process of the sandbox, and return its id; raises `StartError`."""
        try:
            pid = int(json.load(described)["child-pid"])
            limit_process(pid, limits.processes, limits.open_files, limits.file_bytes)
        except PermissionError as error:
            self._process.kill()
            raise StartError("its limits cannot be set") from error
        except (ValueError, ProcessLookupError) as error:
            raise StartError from error  # bubblewrap could not make the sandbox, and says why
        return pid

    def storage(self) -> Storage | None:
        """What is in the scratch space and the network of the sandbox, once it has its own."""
        root = self.processes.root()
        return None if root is None else storage_of_sandbox(root, bubblewrap.SCRATCH)

    def exit_status(self) -> int | None:
        """Bubblewrap ends as its command does."""
        return shell_status(self._process.poll())

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel says so of its control group."""
        return self.group is not None and self.group.ran_out_of_memory()

    def kill(self) -> None:
        """Kill the first process; the kernel kills the rest."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def is_gone(self) -> bool:
        """Bubblewrap waits for its command."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Close the process' descriptor, the sandbox's files, and the control group."""
        os.close(self.pidfd)
        self.processes.close()
        if self.group:
            self.group.close()


class PlainBody:
    """A worker without a sandbox, in a process group of its own: for one's own code only."""

    def __init__(self, job: Job, control: int, sink: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-u", "-c", BOOTSTRAP, str(control), *map(str, job.directories)],
            env=job.environment(home=str(job.worker.parent)),
            stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, pass_fds=(control,), start_new_session=True,
        )  # fmt: skip
        self.processes: Processes = Tree(self._process.pid)

    def storage(self) -> Storage:
        """Not looked at: its files are the user's own."""
        return Storage()

    def exit_status(self) -> int | None:
        """How the worker ended."""
        return shell_status(self._process.poll())

    def ran_out_of_memory(self) -> bool:
        """There is no such limit."""
        return False

    def kill(self) -> None:
        """Kill the worker and what it started in its own process group."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def is_gone(self) -> bool:
        """Whether the worker has ended."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Nothing is held."""


def start_fresh(
    job: Job, limits: Limits, slot: int, control: int, sink: int, *, groups: RunGroup | None = None
) -> SandboxBody:
    """Start a new interpreter in a new sandbox; raises `StartError`.

    The kernel keeps the memory limit if there are `groups`.
    """
    seccomp = memory_file(filter_program(job.gpu is not None))
    try:
        options, prefix = bubblewrap.sandbox(job, limits, slot)
        command = [*prefix, *bubblewrap.worker(control)]
        filtered, inherited = [*options, "--seccomp", str(seccomp)], (control, seccomp)
        group = new_group(groups, limits)
        return SandboxBody(filtered, command, inherited, limits, output=sink, errors=sink, group=group)
    finally:
        os.close(seccomp)


def start_plain(job: Job, _limits: Limits, _slot: int, control: int, sink: int) -> PlainBody:
    """Start a new interpreter without a sandbox."""
    return PlainBody(job, control, sink)


def new_group(groups: RunGroup | None, limits: Limits) -> CallGroup | None:
    """Make the control group of a call, if there are any in this run; raises `StartError`."""
    try:
        return groups.call(limits) if groups else None
    except OSError as error:
        raise StartError(f"its control group cannot be made: {error}") from error


def memory_file(content: bytes) -> int:
    """Return a descriptor from which a child process reads `content`."""
    descriptor = os.memfd_create("pgdl")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def shell_status(code: int | None) -> int | None:
    """128 + number for a signal, as a shell and bubblewrap have it."""
    return 128 - code if code is not None and code < 0 else code
