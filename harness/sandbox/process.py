"""One worker as an operating-system process: start it, talk to it, read its output, kill it."""

import json
import os
import selectors
import signal
import socket
import subprocess
import time
from contextlib import suppress
from typing import IO, Any

from harness.sandbox import bubblewrap, unsandboxed
from harness.sandbox.job import Job
from harness.sandbox.limits import MIB, Limits
from harness.sandbox.seccomp import filter_program
from harness.worker.channel import MAX_FRAME

#: Output that is kept, from its end.
OUTPUT_KEPT = MIB

#: Seconds that a killed sandbox may take to disappear before the harness gives up on the machine.
KILL_GRACE = 10.0


class ProtocolError(Exception):
    """The control channel carried something that is not a frame."""


class StartError(Exception):
    """The sandbox did not start; the message is what it printed."""


class WorkerProcess:
    """A started worker. `poll` moves bytes, `frame` takes the next message, `kill` ends everything.

    Belongs to the thread that started it, which must outlive it: the kernel kills the worker when that
    thread ends. Raises `StartError`.
    """

    def __init__(self, job: Job, limits: Limits, slot: int, *, sandboxed: bool) -> None:
        self.output = b""
        self.output_total = 0
        self.closed = False  #: the worker closed its end of the control channel
        self._frames = b""
        self._sandboxed = sandboxed
        self._control, theirs = socket.socketpair()
        source, sink = os.pipe()
        self._output: IO[bytes] = os.fdopen(source, "rb", buffering=0)
        try:
            if sandboxed:
                self._process, pid = _start_sandboxed(job, limits, slot, theirs.fileno(), sink)
            else:
                self._process = unsandboxed.start(job, theirs.fileno(), sink)
                pid = self._process.pid
        finally:
            theirs.close()
            os.close(sink)
        if pid is None:
            raise StartError(self._output.readall().decode(errors="replace").strip())
        self.pid = pid
        self._pidfd = os.pidfd_open(pid)
        self._open: list[Any] = [self._control, self._output]
        for stream in self._open:
            os.set_blocking(stream.fileno(), False)

    def send(self, **fields: Any) -> None:
        """Send one frame; that a worker is gone shows at the next `poll`."""
        with suppress(OSError):
            self._control.sendall(json.dumps(fields).encode() + b"\n")

    def poll(self, timeout: float) -> None:
        """Wait up to `timeout` seconds for bytes from the worker and take them in."""
        with selectors.DefaultSelector() as selector:
            for stream in self._open:
                selector.register(stream, selectors.EVENT_READ)
            for key, _ in selector.select(timeout):
                if key.fileobj is self._control:
                    self._take_control()
                else:
                    self._take_output()

    def frame(self) -> dict[str, Any] | None:
        """Return the next message, or None while there is none; raises `ProtocolError`."""
        line, newline, rest = self._frames.partition(b"\n")
        if len(line) >= MAX_FRAME:
            raise ProtocolError(f"a frame of over {MAX_FRAME} bytes")
        if not newline:
            return None
        self._frames = rest
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ProtocolError("a frame that is not JSON") from error
        if not isinstance(message, dict):
            raise ProtocolError("a frame that is not a JSON object")
        return message

    def wait(self, timeout: float) -> int | None:
        """Wait for the worker to end by itself; its exit status (128 + signal), or None if it still runs."""
        deadline = time.monotonic() + timeout
        while self._process.poll() is None and time.monotonic() < deadline:
            self.poll(0.02)
        code = self._process.poll()
        return 128 - code if code is not None and code < 0 else code

    def kill(self) -> bool:
        """Kill the worker and all it started; False if something is left after `KILL_GRACE` seconds."""
        deadline = time.monotonic() + KILL_GRACE
        if not self._sandboxed:
            unsandboxed.kill(self.pid)
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        gone = self.wait(KILL_GRACE) is not None
        # The end of the output pipe says that nobody holds its other end: the whole sandbox is gone.
        while gone and self._output in self._open:
            self.poll(0.05)
            gone = time.monotonic() < deadline
        os.close(self._pidfd)
        self._control.close()
        self._output.close()
        return gone

    def _take_control(self) -> None:
        try:
            received = self._control.recv(MAX_FRAME)
        except ConnectionError:
            received = b""
        if received:
            self._frames += received
        else:
            self.closed = True
            self._open.remove(self._control)

    def _take_output(self) -> None:
        chunk = self._output.read(256 * 1024)
        if chunk:
            self.output_total += len(chunk)
            self.output = (self.output + chunk)[-OUTPUT_KEPT:]
        elif chunk is not None:
            self._open.remove(self._output)


def _start_sandboxed(
    job: Job, limits: Limits, slot: int, control: int, sink: int
) -> tuple[subprocess.Popen[bytes], int | None]:
    """Start bubblewrap; return its process and the worker's process id, None if there is no sandbox."""
    source, info = os.pipe()
    seccomp = memory_file(filter_program(job.gpu is not None))
    options, worker = bubblewrap.command(job, limits, control, seccomp, info, slot)
    arguments = memory_file(b"".join(word.encode() + b"\0" for word in options))
    try:
        process = subprocess.Popen(
            [bubblewrap.executable(), "--args", str(arguments), "--", *worker],
            env={}, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, cwd="/",
            pass_fds=(control, seccomp, info, arguments),
        )  # fmt: skip
    finally:
        for descriptor in (info, seccomp, arguments):
            os.close(descriptor)
    with os.fdopen(source, "rb") as answer:
        described = answer.read()  # until bubblewrap closes it; empty when it could not make the sandbox
    if not described:
        process.wait()
        return process, None
    return process, int(json.loads(described)["child-pid"])


def memory_file(content: bytes) -> int:
    """Return a descriptor from which a child process reads `content`."""
    descriptor = os.memfd_create("pgdl")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
