"""Fast starts: one process imports TensorFlow, and every call gets a fork of it inside a sandbox of its own.

The sandbox is the same as for a fresh start: bubblewrap makes it around a placeholder, and the fork joins it
before it gives up every privilege. (Where there is no bubblewrap, see `harness.sandbox.landlock`.) Nothing is
shared between calls but what the imports left in memory.
"""

import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from harness.sandbox import bubblewrap
from harness.sandbox.body import SandboxBody, StartError, memory_file, new_group, shell_status
from harness.sandbox.cgroup import RunGroup
from harness.sandbox.job import Job
from harness.sandbox.limits import Limits
from harness.sandbox.processes import Processes
from harness.sandbox.seccomp import filter_program
from harness.sandbox.storage import Storage

#: What the zygote's interpreter runs; the arguments are its channel and the directory of the worker's code.
BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv[2]); from harness.worker.zygote import main; "
    "sys.path.pop(0); main(int(sys.argv[1]))"
)

#: What holds a sandbox open for a fork, and where it is inside: it repeats what it is told, and waits for more.
HOLDER, HOLDER_INSIDE = "/bin/cat", "/job/cat"

#: Nobody can look into a process that runs a program which its user may not read.
UNREADABLE = "0111"

#: Seconds that the imports may take.
IMPORT_S = 120.0

#: Seconds that a fork may take to say its process id.
FORK_S = 30.0


class Report:
    """What the parent of a forked worker says: JSON objects, one per line."""

    def __init__(self, descriptor: int) -> None:
        """Wait for the first line; raises `StartError` if it gives no process id."""
        self.ended = False  #: the parent has closed its end
        self.facts: dict[str, Any] = {}
        self._descriptor, self._pending = descriptor, b""
        os.set_blocking(descriptor, False)
        deadline = time.monotonic() + FORK_S
        while not self.facts and not self.ended and (left := deadline - time.monotonic()) > 0:
            select.select([descriptor], [], [], left)
            self.read()
        if "pid" not in self.facts:
            raise StartError(self.facts.get("error", "the zygote did not fork"))

    def read(self) -> None:
        """Take in what was said meanwhile."""
        with suppress(BlockingIOError):
            while chunk := os.read(self._descriptor, 4096):
                *lines, self._pending = (self._pending + chunk).split(b"\n")
                for line in lines:
                    self.facts |= json.loads(line)
            self.ended = True

    @property
    def exit_status(self) -> int | None:
        """How the worker ended, None while it runs."""
        self.read()
        return shell_status(self.facts.get("status"))


class Placeholder(SandboxBody):
    """A sandbox that a fork will join, held open by a process that is as confined and as limited as the worker.

    The worker is the same user. It must not get into that process, in which it would be somebody that nobody watches.
    """

    def __init__(self, job: Job, limits: Limits, slot: int, sink: int, groups: RunGroup | None) -> None:
        """Make the sandbox, and wait until all of it is there and the process runs; raises `StartError`."""
        seccomp, program = memory_file(filter_program(job.gpu is not None)), os.open(HOLDER, os.O_RDONLY)
        (given, line), (heard, answer) = os.pipe(), os.pipe()
        self._line = os.fdopen(line, "wb", buffering=0)
        with os.fdopen(heard, "rb") as hears:
            try:
                holder = ["--perms", UNREADABLE, "--ro-bind-data", str(program), HOLDER_INSIDE]
                options, prefix = bubblewrap.sandbox(job, limits, slot, holder)
                super().__init__(
                    [*options, "--seccomp", str(seccomp)], [*prefix, HOLDER_INSIDE], (seccomp, program), limits,
                    output=answer, errors=sink, group=new_group(groups, limits), source=given,
                )  # fmt: skip
            except StartError:
                self._line.close()
                raise
            finally:
                for descriptor in (seccomp, program, given, answer):
                    os.close(descriptor)
            with suppress(BrokenPipeError):
                self._line.write(b"ready\n")
            if not hears.readline():
                self.kill()
                self.close()
                raise StartError("the sandbox ended before it was ready")

    def close(self) -> None:
        """Let the holder end, too, if it has not been killed."""
        self._line.close()
        super().close()


class ForkedBody:
    """A worker that a zygote forked into the sandbox of a placeholder."""

    def __init__(self, placeholder: Placeholder, report: int) -> None:
        """Wait for the worker's process id; raises `StartError`."""
        self._placeholder, self._descriptor = placeholder, report
        self._report = Report(report)

    @property
    def processes(self) -> Processes:
        """Those of the placeholder's namespace, where the worker is as well."""
        return self._placeholder.processes

    def storage(self) -> Storage | None:
        """What the placeholder's namespaces hold."""
        return self._placeholder.storage()

    def exit_status(self) -> int | None:
        """What the worker's parent, outside the sandbox, says of its end."""
        return self._report.exit_status

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel says so of the control group, which is the placeholder's and the worker's."""
        return self._placeholder.ran_out_of_memory()

    def kill(self) -> None:
        """Kill the placeholder; the kernel kills everything in its namespace."""
        self._placeholder.kill()

    def is_gone(self) -> bool:
        """Whether the placeholder and the worker's parent have ended."""
        self._report.read()
        return self._report.ended and self._placeholder.is_gone()

    def close(self) -> None:
        """Close the report and the placeholder's descriptor."""
        os.close(self._descriptor)
        self._placeholder.close()


class Zygote:
    """A process with the imports done, from which workers are forked; start it in a thread that outlives them."""

    def __init__(self, job: Job) -> None:
        """Start the process for jobs that share the worker's code, Keras version, threads and kind of device."""
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-I", "-B", "-u", "-c", BOOTSTRAP, str(theirs.fileno()), str(job.worker)]
        with theirs:
            self._process = subprocess.Popen(
                command, env=job.environment(home=bubblewrap.HOME), cwd="/", start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
            )  # fmt: skip
        self._orders = ours
        self._lock = threading.Lock()

    def wait_until_ready(self) -> None:
        """Wait for the imports; raises `StartError`."""
        self._orders.settimeout(IMPORT_S)
        try:
            answer = self._orders.recv(256)
        except TimeoutError:
            answer = b""
        if answer:
            return
        self._process.kill()
        assert self._process.stderr is not None
        reason = self._process.stderr.read().decode(errors="replace").strip().splitlines()[-1:]
        raise StartError(f"the zygote did not start: {' '.join(reason)}")

    def order(self, order: dict[str, Any], descriptors: Sequence[int]) -> None:
        """Have a worker forked; raises `StartError`."""
        try:
            with self._lock:
                socket.send_fds(self._orders, [json.dumps(order).encode()], descriptors)
        except OSError as error:
            raise StartError(f"the zygote is gone: {error}") from error

    def close(self) -> None:
        """End the process."""
        self._orders.close()
        self._process.kill()
        self._process.wait()


def start_fast(
    job: Job,
    limits: Limits,
    slot: int,
    control: int,
    sink: int,
    *,
    zygote: Zygote,
    groups: RunGroup | None = None,
) -> ForkedBody:
    """Fork a worker into a new sandbox; raises `StartError`.

    The kernel keeps the memory limit if there are `groups`.
    """
    placeholder = Placeholder(job, limits, slot, sink, groups)
    entrances = [placeholder.group.open_entrance()] if placeholder.group else []
    program = memory_file(filter_program(job.gpu is not None))
    source, report = os.pipe()
    order = {
        "uid": bubblewrap.worker_uid(slot),
        "environment": job.environment(home=bubblewrap.HOME),
        "home": bubblewrap.HOME,
        "directories": bubblewrap.JOB_DIRECTORIES[1:],
        "places": None,
        "other_processes": 0,
    }
    try:
        try:
            zygote.order(order, [control, sink, program, report, placeholder.pidfd, *entrances])
        finally:
            for descriptor in (program, report, *entrances):
                os.close(descriptor)
        return ForkedBody(placeholder, source)
    except StartError:
        os.close(source)
        placeholder.kill()
        placeholder.close()
        raise
