"""Fast starts: one process imports TensorFlow, and every call gets a fork of it inside a sandbox of its own.

The sandbox is the same as for a fresh start: bubblewrap makes it around a placeholder, and the fork joins it
before it gives up every privilege. Nothing is shared between calls but what the imports left in memory.
"""

import json
import os
import select
import socket
import subprocess
import sys
import threading

from harness.sandbox import bubblewrap
from harness.sandbox.body import SandboxBody, StartError, memory_file, new_group, shell_status
from harness.sandbox.cgroup import RunGroup
from harness.sandbox.job import Job
from harness.sandbox.limits import Limits
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


class ForkedBody:
    """A worker that a zygote forked into the sandbox of a placeholder."""

    def __init__(self, placeholder: SandboxBody, report: int) -> None:
        self._placeholder = placeholder
        self._report = os.fdopen(report, "rb", buffering=0)
        self._status: int | None = None
        self._ended = False
        try:
            first = json.loads(self._read_line())
        except ValueError:
            first = {"error": "the zygote did not fork"}
        if "pid" not in first:
            self._report.close()
            raise StartError(first.get("error", "no worker"))
        self.roots = (placeholder.pid, int(first["pid"]))
        os.set_blocking(report, False)

    def storage(self) -> Storage:
        """What the placeholder's namespaces hold."""
        return self._placeholder.storage()

    def exit_status(self) -> int | None:
        """What the worker's parent, outside the sandbox, says of its end."""
        while not self._ended:
            line = self._report.read(256)
            if line is None:
                break
            if line:
                self._status = shell_status(int(json.loads(line)["status"]))
            else:
                self._ended = True
        return self._status

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel says so of the control group, which is the placeholder's and the worker's."""
        return self._placeholder.ran_out_of_memory()

    def kill(self) -> None:
        """Kill the placeholder; the kernel kills everything in its namespace."""
        self._placeholder.kill()

    def is_gone(self) -> bool:
        """Whether the placeholder and the worker's parent have ended."""
        self.exit_status()
        return self._ended and self._placeholder.is_gone()

    def close(self) -> None:
        """Close the report and the placeholder's descriptor."""
        self._report.close()
        self._placeholder.close()

    def _read_line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n") and select.select([self._report], [], [], FORK_S)[0]:
            byte = self._report.read(1)
            if not byte:
                break
            line += byte
        return line


class Zygote:
    """A process with the imports done, from which workers are forked; start it in a thread that outlives them."""

    def __init__(self, job: Job, groups: RunGroup | None = None) -> None:
        """Start the process for jobs that share the worker's code, Keras version, threads and kind of device.

        The kernel keeps the memory limit of workers if there are `groups`.
        """
        self._groups = groups
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
        self._filter = memory_file(filter_program(job.gpu is not None))

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

    def start(self, job: Job, limits: Limits, slot: int, control: int, sink: int) -> ForkedBody:
        """Fork a worker into a new sandbox; raises `StartError`."""
        placeholder = _placeholder(job, limits, slot, sink, self._groups)
        entrances = [placeholder.group.open_entrance()] if placeholder.group else []
        source, report = os.pipe()
        order = {
            "uid": bubblewrap.worker_uid(slot),
            "environment": job.environment(home=bubblewrap.HOME),
            "directories": bubblewrap.JOB_DIRECTORIES[1:],
        }
        try:
            with self._lock:
                descriptors = [control, sink, placeholder.pidfd, self._filter, report, *entrances]
                socket.send_fds(self._orders, [json.dumps(order).encode()], descriptors)
        except OSError as error:
            os.close(source)
            placeholder.kill()
            placeholder.close()
            raise StartError(f"the zygote is gone: {error}") from error
        finally:
            for descriptor in (report, *entrances):
                os.close(descriptor)
        try:
            return ForkedBody(placeholder, source)
        except StartError:
            placeholder.kill()
            placeholder.close()
            raise

    def close(self) -> None:
        """End the process."""
        self._orders.close()
        os.close(self._filter)
        self._process.kill()
        self._process.wait()


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
