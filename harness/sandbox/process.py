"""The harness' end of the conversation with a worker: it receives messages and output, and kills the worker."""

import json
import math
import os
import re
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from harness.configuration import MIB
from harness.outcome import Outcome
from harness.sandbox.job import Job, Launch, Limits
from harness.sandbox.processes import progress
from harness.sandbox.running_sandbox import RunningSandbox, StartError
from harness.worker.channel import MAX_FRAME

#: Outcomes that a worker may report itself; all others are found by the harness.
CLAIMABLE = frozenset(
    {Outcome.OK, Outcome.EXCEPTION, Outcome.BAD_VALUE, Outcome.FORBIDDEN, Outcome.MEMORY, Outcome.INVALID_SUBMISSION}
)

#: Maximum length of a stored message, in characters.
MESSAGE = 500

#: Number of bytes kept from the end of a worker's output.
OUTPUT_KEPT = MIB

#: Seconds without progress after which the harness stops waiting for a killed sandbox, and makes no further calls. On a
#: busy machine processes end slowly; a process stuck in a driver makes no progress.
KILL_GRACE = 10.0

#: Seconds that a killed sandbox may take to end even if it makes progress.
KILL_LIMIT = 120.0

#: Seconds to wait for the end of the output of a sandbox that did not start.
LAST_OUTPUT_S = 5.0

#: Seconds between two checks of the progress of a killed sandbox.
PROGRESS_S = 0.5

#: Type of `Kind.start`.
Starter = Callable[[Launch], RunningSandbox]


class Ended(Exception):
    """Raised when a call ends: its outcome, the reason, and its value if the measure returned a value."""

    def __init__(self, outcome: Outcome, message: str = "", value: float | None = None) -> None:
        super().__init__(message)
        self.outcome, self.message, self.value = outcome, message, value


class Interrupted(Ended):
    """A cause outside the sandbox ended the call or falsified its time, so the call can be made again."""

    def __init__(self, message: str) -> None:
        super().__init__(Outcome.INFRA_ERROR, message)


def read_claim(frame: dict[str, Any]) -> Ended:
    """Return the result that a worker reports in `frame`; its outcome is `PROTOCOL` if the report is invalid."""
    status, message = frame.get("status"), frame.get("message", "")
    if not isinstance(status, str) or status not in CLAIMABLE or not isinstance(message, str):
        return Ended(Outcome.PROTOCOL, "a result with a status that a worker may not claim")
    if status != Outcome.OK:
        return Ended(Outcome(status), " ".join(printable(message).split())[:MESSAGE])
    text = frame.get("value")
    try:
        value = float.fromhex(text) if isinstance(text, str) and len(text) < 64 else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        return Ended(Outcome.PROTOCOL, "a result that is not a finite number")
    return Ended(Outcome.OK, value=value)


#: Sequences that control a terminal, such as a colour or a title; of a sequence without an end, the first characters.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


def printable(text: str) -> str:
    """Return a text without escape sequences, and without control characters except newline and tab."""
    text = _ESCAPES.sub("", text)
    return "".join(character for character in text if character.isprintable() or character in "\n\t")


class ProtocolError(Exception):
    """The worker sent bytes that are no message."""


class WorkerProcess:
    """A started worker: `poll` receives bytes, `frame` returns the next message, `kill` ends the whole sandbox.

    The kernel also kills the worker when the thread that started it ends.
    """

    def __init__(self, start: Starter, job: Job, limits: Limits, slot: int) -> None:
        """Start the worker. Raise `StartError` with the output of the sandbox if that fails."""
        self.output = b""
        self.output_total = 0
        self.closed = False  #: whether the worker has closed its end of the control channel
        self._gone = False
        self._frames = b""
        self._control, theirs = socket.socketpair()
        source, sink = os.pipe()
        self._output = os.fdopen(source, "rb", buffering=0)
        self._open: list[Any] = [self._control, self._output]
        for stream in self._open:
            os.set_blocking(stream.fileno(), False)
        reason: str | None = None
        try:
            self.sandbox = start(Launch(job, limits, slot, theirs.fileno(), sink))
        except StartError as error:
            reason = str(error)
        finally:
            theirs.close()
            os.close(sink)
        if reason is not None:
            # A process that hangs, such as a stopped zygote, may keep the pipe open for ever.
            self._wait_until(self._output_has_ended, time.monotonic() + LAST_OUTPUT_S)
            self._close()
            raise StartError(f"{reason} {self.output.decode(errors='replace')}".strip())

    def send(self, **fields: Any) -> None:
        """Send a message to the worker. If the worker has ended, nothing is raised; the next `poll` notices."""
        with suppress(OSError):
            self._control.sendall(json.dumps(fields).encode() + b"\n")

    def poll(self, timeout: float) -> None:
        """Wait up to `timeout` seconds for bytes from the worker, and store them."""
        with selectors.PollSelector() as selector:  # the kernel limits epoll per user, so a call could use it up
            for stream in self._open:
                selector.register(stream, selectors.EVENT_READ)
            for key, _ in selector.select(timeout):
                if key.fileobj is self._control:
                    self._receive_control()
                else:
                    self._receive_output()

    def frame(self) -> dict[str, Any] | None:
        """Return the worker's next message; None until it is complete. Raise `ProtocolError` for invalid JSON."""
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
        """Return the worker's exit status (128 + signal); None if it still runs after `timeout` seconds."""
        self._wait_until(lambda: self.sandbox.exit_status() is not None, time.monotonic() + timeout)
        return self.sandbox.exit_status()

    def end(self, killed: Callable[[], None] = lambda: None) -> bool:
        """Kill every process of the sandbox, call `killed`, and wait until all processes have ended.

        Return False if processes remain after `KILL_GRACE` seconds without progress, or after `KILL_LIMIT` seconds.
        """
        if not self._gone:
            self.sandbox.kill()
            killed()
            self._gone = self._wait_until_gone()
        return self._gone

    def kill(self, killed: Callable[[], None] = lambda: None) -> bool:
        """Kill every process as `end` does, and release all descriptors. Return what `end` returns."""
        gone = self.end(killed)
        self.sandbox.close()
        self._close()
        return gone

    def _close(self) -> None:
        self._control.close()
        self._output.close()

    def _wait_until_gone(self) -> bool:
        waited = idle = 0.0  # sums of checks, so that a pause of the harness does not count
        last = None
        while not self._wait_until(self._is_gone, time.monotonic() + PROGRESS_S):
            now = progress(self.sandbox.processes.entries())
            waited, idle = waited + PROGRESS_S, 0.0 if now != last or now.runs else idle + PROGRESS_S
            last = now
            if idle > KILL_GRACE or waited > KILL_LIMIT:
                return False
        return True

    def _is_gone(self) -> bool:
        return self.sandbox.is_gone() and self._output_has_ended()

    def _output_has_ended(self) -> bool:
        """Return whether all processes have closed the end of the pipe to which they print."""
        return self._output not in self._open

    def _wait_until(self, condition: Callable[[], bool], deadline: float) -> bool:
        pause = 0.001
        while not condition():
            if time.monotonic() >= deadline:
                return False
            if self._open:
                self.poll(pause)
            else:
                time.sleep(pause)
            pause = min(1.2 * pause, 0.05)  # the wait takes at most a fifth longer than necessary
        return True

    def _receive_control(self) -> None:
        try:
            received = self._control.recv(MAX_FRAME)
        except ConnectionError:
            received = b""
        if received:
            self._frames += received
        else:
            self.closed = True
            self._open.remove(self._control)

    def _receive_output(self) -> None:
        chunk = self._output.read(256 * 1024)
        if chunk:
            self.output_total += len(chunk)
            self.output = (self.output + chunk)[-OUTPUT_KEPT:]
        elif chunk is not None:
            self._open.remove(self._output)
