"""Starts and commands zygotes. A zygote is a process that has imported a framework, and forks workers on request."""

import json
import os
import resource
import selectors
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any, TypeVar

from harness import children
from harness.sandbox import bubblewrap
from harness.sandbox.job import Job, Launch
from harness.sandbox.process import Starter
from harness.sandbox.running_sandbox import LostError, StartError, memory_file, shell_status
from harness.sandbox.seccomp import filter_program
from harness.sandbox.selftest import require_value

#: Program of the zygote's interpreter. Its arguments are the runtime and the directory of the worker's code. Requests
#: come through standard input, because workers can read the arguments.
BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv[2]); from harness.worker.zygote import main; "
    "sys.path.pop(0); main(sys.argv[1])"
)

#: Seconds that the imports may take.
IMPORT_S = 120.0

#: Seconds within which the process ID of a forked worker must arrive.
FORK_S = 30.0

#: Seconds that a process may take to end after it has closed its connection.
END_S = 1.0

T = TypeVar("T")


class WorkerReport:
    """Reads reports of a forked worker's parent process: JSON objects, one per line, from a pipe or a socket."""

    def __init__(self, descriptor: int, zygote: "Zygote") -> None:
        """Wait up to `FORK_S` seconds for the worker's process ID. Raise `StartError` if it does not arrive."""
        self._zygote = zygote
        self.ended = False  #: whether the worker's parent has closed its end
        self.facts: dict[str, Any] = {}
        self._descriptor, self._pending = descriptor, b""
        os.set_blocking(descriptor, False)
        deadline = time.monotonic() + FORK_S
        with selectors.PollSelector() as selector:  # `select.select` refuses descriptors above 1023
            selector.register(descriptor, selectors.EVENT_READ)
            while not self.facts and not self.ended and (left := deadline - time.monotonic()) > 0:
                selector.select(left)
                self.read()
        if "pid" not in self.facts:
            raise StartError(self.facts.get("error") or zygote.end() or "the zygote did not fork")

    def read(self) -> None:
        """Add to `facts` the JSON objects that have arrived, without waiting for more."""
        with suppress(BlockingIOError):
            while chunk := os.read(self._descriptor, 4096):
                *lines, self._pending = (self._pending + chunk).split(b"\n")
                for line in lines:
                    self.facts |= json.loads(line)
            self.ended = True

    def reap(self) -> None:
        """Read new reports. Also reap the worker, if its parent was killed and this process has adopted it."""
        self.read()
        if self.ended and "status" not in self.facts:
            with suppress(ChildProcessError):
                os.waitpid(self.facts["pid"], os.WNOHANG)

    @property
    def exit_status(self) -> int | None:
        """The worker's exit status (128 + signal); None while it runs.

        Raise `LostError` if the worker's parent ended first.
        """
        self.read()
        if self.ended and "status" not in self.facts:
            raise LostError(self._zygote.end() or "the process that watches the worker has ended")
        return shell_status(self.facts.get("status"))


class Zygote:
    """A process that has imported a framework and forks workers. It is killed if the thread that created it ends."""

    def __init__(self, job: Job) -> None:
        """Start a process that forks workers for all jobs with the same code, runtime, threads and device as `job`."""
        # A call by the same user may keep over 1,024 descriptors in unread sockets. The kernel then lets this user send
        # more only from processes with a higher limit on open files.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        ours, theirs = socket.socketpair()
        command = children.interpreter(BOOTSTRAP, job.runtime, str(job.worker), options=("-B", "-u"))
        with theirs:
            self._process = children.popen(
                command, job.environment(home=bubblewrap.HOME), stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **children.OWN_GROUP,
            )  # fmt: skip
        self._orders = ours
        self._lock = threading.Lock()
        self._is_ready = False

    def wait_until_ready(self) -> None:
        """Wait for the imports. Raise `StartError` if they fail or exceed `IMPORT_S` seconds."""
        if self._is_ready:
            return
        self._orders.settimeout(IMPORT_S)
        with suppress(TimeoutError):
            self._is_ready = bool(self._orders.recv(256))
        if self._is_ready:
            return
        reason = self.end() or f"the imports took more than {IMPORT_S:g} s"
        self._process.kill()
        if self._process.wait() >= 0:
            assert self._process.stderr is not None
            reason = self._process.stderr.read().decode(errors="replace").strip().rpartition("\n")[2]
        raise StartError(f"the zygote did not start: {reason}")

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def end(self) -> str:
        """Wait for the process to end. Return how it ended, as a clause for a message; "" after `END_S` seconds."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        status = self._process.returncode
        if status is None:
            return ""
        how = f"was ended by signal {-status}" if status < 0 else f"exited with status {status}"
        return f"the process from which workers are forked {how}"

    def fork(self, launch: Launch, home: str, report: int, sandbox: Sequence[int] = (), **more: Any) -> None:
        """Request a fork that becomes a worker. Raise `StartError` if the process has ended.

        Args:
            launch: inputs and descriptors of the worker.
            home: home directory of the worker.
            report: descriptor to which the worker's parent reports (`WorkerReport`); this method closes it.
            sandbox: pidfd of the sandbox that the fork joins, and entrance of its control group if it has one; empty
                if the fork confines itself by Landlock.
            more: further parts of the request (`harness.worker.zygote`).
        """
        job, uid = launch.job, bubblewrap.worker_uid(launch.slot)
        order = {"uid": uid, "environment": job.environment(home=home), "home": home} | more
        with ExitStack() as closing:
            closing.callback(os.close, report)
            program = memory_file(filter_program(job.gpu is not None, namespaces=bool(sandbox)))
            closing.callback(os.close, program)
            descriptors = [launch.control, launch.output, program, report, *sandbox]
            try:
                with self._lock:
                    socket.send_fds(self._orders, [json.dumps(order).encode()], descriptors)
            except OSError as error:
                raise StartError(f"the zygote is gone: {error}") from error

    def close(self) -> None:
        """End the process."""
        self._orders.close()
        self._process.kill()
        with self._process:  # closes the pipe of its errors, too
            pass


class Zygotes:
    """A zygote for each runtime. If a zygote ends, it is replaced, but only once per runtime."""

    def __init__(self) -> None:
        self._by_runtime: dict[str, Zygote] = {}
        self._changing = threading.Lock()
        self._started_again: set[str] = set()  #: runtimes whose zygote was replaced
        self._are_given_up = False

    def begin(self, trials: Sequence[Job]) -> None:
        """For each runtime of these jobs, start a process that forks workers. Do not wait for the imports."""
        for job in trials:
            if job.runtime not in self._by_runtime:
                self._by_runtime[job.runtime] = Zygote(job)

    def start(self, trials: Sequence[Job], start_worker: Starter) -> None:
        """For each runtime of `trials`, start a process that forks workers, and make a test call.

        Raise `StartError` if an import fails, or if a test call by `start_worker` returns a wrong value.
        """
        self.begin(trials)
        for job in trials:
            self._by_runtime[job.runtime].wait_until_ready()
        for job in trials:
            require_value(start_worker, job)

    def fork(self, job: Job, start: Callable[[Zygote], T]) -> T | None:
        """Call `start` with the zygote for the job's runtime, and return the result; None if no zygote is left.

        If the zygote ends meanwhile, call `start` again with its replacement. Raise `StartError` if `start` fails
        although the zygote lives.
        """
        while (zygote := self._living(job)) is not None:
            try:
                return start(zygote)
            except StartError:
                if not zygote.end():
                    raise
        return None

    def _living(self, job: Job) -> Zygote | None:
        with self._changing:
            if self._are_given_up:
                return None
            zygote = self._by_runtime.get(job.runtime)
            if zygote is None or not zygote.has_ended:
                return zygote
            zygote.close()
            if job.runtime not in self._started_again:
                self._started_again.add(job.runtime)
                zygote = self._by_runtime[job.runtime] = Zygote(job)
                with suppress(StartError):
                    zygote.wait_until_ready()
                    return zygote
            self._are_given_up = True
            return None

    def __bool__(self) -> bool:
        return bool(self._by_runtime) and not self._are_given_up

    def close(self) -> None:
        """End all processes that fork workers."""
        for zygote in self._by_runtime.values():
            zygote.close()
        self._by_runtime = {}
