"""One worker as seen by the harness: talk to it, read its output, watch it, kill it."""

import json
import os
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from harness.sandbox.body import Body, StartError
from harness.sandbox.job import Job
from harness.sandbox.limits import MIB, Limits
from harness.sandbox.processes import progress
from harness.worker.channel import MAX_FRAME

#: Output that is kept, from its end.
OUTPUT_KEPT = MIB

#: Seconds without any progress after which the harness gives up on a killed sandbox, and on the machine. A busy machine
#: only takes its time; a process that is stuck in a driver does nothing at all.
KILL_GRACE = 10.0

#: Seconds that a killed sandbox may take at most.
KILL_LIMIT = 120.0

#: Seconds between two looks at its progress.
LOOK = 0.5

#: Starts the processes of a worker, given job, limits, slot, and the worker's ends of control channel and output.
Starter = Callable[[Job, Limits, int, int, int], Body]


class ProtocolError(Exception):
    """The control channel carried something that is not a frame."""


class WorkerProcess:
    """A started worker. `poll` moves bytes, `frame` takes the next message, `kill` ends everything.

    Belongs to the thread that started it, which must outlive it: the kernel kills the worker when that
    thread ends. Raises `StartError` with what the sandbox printed.
    """

    def __init__(self, start: Starter, job: Job, limits: Limits, slot: int) -> None:
        self.output = b""
        self.output_total = 0
        self.closed = False  #: the worker closed its end of the control channel
        self._gone = False
        self._frames = b""
        self._control, theirs = socket.socketpair()
        source, sink = os.pipe()
        self._output: IO[bytes] = os.fdopen(source, "rb", buffering=0)
        reason: str | None = None
        try:
            self.body = start(job, limits, slot, theirs.fileno(), sink)
        except StartError as error:
            reason = str(error)
        finally:
            theirs.close()
            os.close(sink)
        if reason is not None:
            raise StartError(f"{reason} {self._output.read().decode(errors='replace')}".strip())
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
        self._wait_until(lambda: self.body.exit_status() is not None, time.monotonic() + timeout)
        return self.body.exit_status()

    def end(self) -> bool:
        """Kill the worker and all it started, and wait; False if something is left that makes no progress in ending."""
        if not self._gone:
            self.body.kill()
            self._gone = self._wait_until_gone()
        return self._gone

    def kill(self) -> bool:
        """End the worker, and give back what is held of it; returns what `end` does."""
        gone = self.end()
        self.body.close()
        self._control.close()
        self._output.close()
        return gone

    def _wait_until_gone(self) -> bool:
        began = looked = moved = time.monotonic()
        last = None
        while not self._wait_until(self._is_gone, looked + LOOK):
            looked = time.monotonic()
            now = progress(self.body.processes.entries())
            if now != last or now.runs:
                last, moved = now, looked
            if looked - moved > KILL_GRACE or looked - began > KILL_LIMIT:
                return False
        return True

    def _is_gone(self) -> bool:
        # The end of the output pipe says that nobody holds its other end: the whole sandbox is gone.
        return self.body.is_gone() and self._output not in self._open

    def _wait_until(self, condition: Callable[[], bool], deadline: float) -> bool:
        pause = 0.001
        while not condition():
            if time.monotonic() >= deadline:
                return False
            if self._open:
                self.poll(pause)
            else:
                time.sleep(pause)
            pause = min(2 * pause, 0.05)
        return True

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
