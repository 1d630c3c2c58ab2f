"""A running bubblewrap sandbox, and one that a forked worker joins."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from typing import IO

from harness import children
from harness.sandbox import bubblewrap
from harness.sandbox.body import Body, StartError, Storage, memory_file, shell_status, storage_of_sandbox
from harness.sandbox.cgroup import CallGroup, RunGroup
from harness.sandbox.job import Job
from harness.sandbox.limits import Limits
from harness.sandbox.processes import Namespace
from harness.sandbox.seccomp import filter_program
from harness.sandbox.staging import ECHO
from harness.worker.limits import limit_process


class Enclosure(Body):
    """bubblewrap around a command in its own PID namespace; killing PID 1 kills everything inside."""

    processes: Namespace

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
        """Start the sandbox in the control group `group`, which `close` removes.

        The command waits until the process limits are set. Raises `StartError`.
        """
        self.group = group
        (answer, info), (gate, opening) = os.pipe(), os.pipe()
        words = [*options, "--info-fd", str(info), "--block-fd", str(gate)]
        arguments = memory_file(b"".join(word.encode() + b"\0" for word in words))
        with os.fdopen(answer, "rb") as described, os.fdopen(opening, "wb"):
            try:
                entrance = group.entrance if group else []
                self._process = children.popen(
                    [*entrance, bubblewrap.executable(), "--args", str(arguments), "--", *command], {},
                    stdin=source, stdout=output, stderr=errors,
                    pass_fds=(*inherited, info, gate, arguments), **children.OWN_GROUP,
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
        """Set the limits of the sandbox's PID 1 and return its process ID outside; raises `StartError`."""
        try:
            pid = int(json.load(described)["child-pid"])
            limit_process(pid, limits.processes, limits.open_files, limits.file_bytes)
        except PermissionError as error:
            self._process.kill()
            raise StartError("its limits cannot be set") from error
        except (ValueError, ProcessLookupError) as error:
            raise StartError from error  # bubblewrap could not create the sandbox, and printed why
        return pid

    def storage(self) -> Storage | None:
        """Return the usage of scratch space and network, None until the sandbox has its own root."""
        root = self.processes.root()
        return None if root is None else storage_of_sandbox(root, bubblewrap.SCRATCH)

    def exit_status(self) -> int | None:
        """Return bubblewrap's exit status, which is that of its command."""
        return shell_status(self._process.poll())

    def ran_out_of_memory(self) -> bool:
        """Return whether the control group hit its memory limit."""
        return self.group is not None and self.group.ran_out_of_memory()

    def kill(self) -> None:
        """Kill PID 1; the kernel kills the rest."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def is_gone(self) -> bool:
        """Return whether bubblewrap has ended, which waits for its command."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Close the pidfd and the sandbox's root directory, and remove the control group."""
        os.close(self.pidfd)
        self.processes.close()
        if self.group:
            self.group.close()


def new_group(groups: RunGroup | None, limits: Limits) -> CallGroup | None:
    """Create the control group of a call, if this run has control groups; raises `StartError`."""
    try:
        return groups.call(limits) if groups else None
    except OSError as error:
        raise StartError(f"its control group cannot be created: {error}") from error


#: The program of the placeholder process, which keeps the sandbox open: it echoes its input and waits.
HOLDER = f"{bubblewrap.JOB_DIRECTORIES[0]}/{ECHO}"


class Placeholder(Enclosure):
    """A sandbox for a forked worker, kept open by a placeholder process as confined and limited as the worker.

    The worker runs as the same user. It must not gain control of that process, which is not watched.
    """

    def __init__(self, job: Job, limits: Limits, slot: int, sink: int, groups: RunGroup | None) -> None:
        """Create the sandbox, and wait until it is complete and the process runs; raises `StartError`."""
        seccomp = memory_file(filter_program(job.gpu is not None))
        (given, line), (heard, answer) = os.pipe(), os.pipe()
        self._line = os.fdopen(line, "wb", buffering=0)
        with os.fdopen(heard, "rb") as hears:
            try:
                options, prefix = bubblewrap.sandbox(job, limits, slot)
                super().__init__(
                    [*options, "--seccomp", str(seccomp)], [*prefix, HOLDER], (seccomp,), limits,
                    output=answer, errors=sink, group=new_group(groups, limits), source=given,
                )  # fmt: skip
            except StartError:
                self._line.close()
                raise
            finally:
                for descriptor in (seccomp, given, answer):
                    os.close(descriptor)
            with suppress(BrokenPipeError):
                self._line.write(b"ready\n")
            if not hears.readline():
                self.kill()
                self.close()
                raise StartError("the sandbox ended before it was ready")

    def close(self) -> None:
        """End the placeholder process, too, if it has not been killed."""
        self._line.close()
        super().close()
