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

#: The first process of a sandbox that a fork will join: it says that everything is mounted, then holds it open.
PLACEHOLDER = ("/bin/sh", "-c", "echo ready; exec /bin/sleep infinity >/dev/null")

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


class ForkedBody:
    """A worker that a zygote forked into the sandbox of a placeholder."""

    def __init__(self, placeholder: SandboxBody, report: int) -> None:
        """Wait for the worker's process id; raises `StartError`."""
        self._placeholder, self._descriptor = placeholder, report
        self._report = Report(report)

    @property
    def processes(self) -> Processes:
        """Those of the placeholder's namespace, where the worker is as well."""
        return self._placeholder.processes

    def storage(self) -> Storage:
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
    placeholder = _placeholder(job, limits, slot, sink, groups)
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


def _placeholder(job: Job, limits: Limits, slot: int, sink: int, groups: RunGroup | None) -> SandboxBody:
    """Make a sandbox, and wait until all of it is there.

    Its first process is as confined as the worker, who is the same user and can write into its memory.
    """
    options, prefix = bubblewrap.sandbox(job, limits, slot)
    seccomp = memory_file(filter_program(job.gpu is not None))
    source, ready = os.pipe()
    with os.fdopen(source, "rb") as answer:
        try:
            filtered = [*options, "--seccomp", str(seccomp)]
            command, group = [*prefix, *PLACEHOLDER], new_group(groups, limits)
            body = SandboxBody(filtered, command, (seccomp,), output=ready, errors=sink, group=group)
        finally:
            os.close(ready)
            os.close(seccomp)
        if not answer.readline():
            body.kill()
            body.close()
            raise StartError("the sandbox ended before it was ready")
    return body
