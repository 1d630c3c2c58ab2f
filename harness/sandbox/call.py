"""One call of a submission on one model: the conversation with the worker, its clock and its limits."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from harness.sandbox.clock import Clock
from harness.sandbox.job import Job
from harness.sandbox.limits import MIB, Limits
from harness.sandbox.memory import Usage, machine_is_exhausted, measure
from harness.sandbox.outcome import CLAIMABLE, Outcome
from harness.sandbox.process import ProtocolError, StartError, WorkerProcess

#: Seconds between two looks at memory and output.
TICK = 0.05

#: Characters of output that a result keeps, from its end.
TAIL = 16_000


class StoppedError(Exception):
    """The run is being stopped; the call has no result."""


@dataclass(frozen=True)
class CallResult:
    """What became of one call; times in seconds, as measured by the harness from outside."""

    outcome: Outcome
    value: float | None = None
    message: str = ""  #: one line: why, with the limit and what was used
    startup_wall_s: float = 0.0
    load_wall_s: float = 0.0
    load_cpu_s: float = 0.0  #: since the start of the process
    call_wall_s: float = 0.0
    call_cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    output_tail: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    survived_kill: bool = False  #: something of the sandbox is still there; the machine cannot be trusted


class _Ended(Exception):
    """The call is over."""

    def __init__(self, outcome: Outcome, message: str = "", value: float | None = None) -> None:
        super().__init__(message)
        self.outcome, self.message, self.value = outcome, message, value


class Call:
    """A call in two steps: `prepare` starts a worker and waits until it is ready, `run` uses it.

    Preparing needs a core but no clock, so it may overlap with another call; `run` is what is timed.
    """

    def __init__(
        self, job: Job, limits: Limits, slot: int, *, sandboxed: bool, stopping: Callable[[], bool]
    ) -> None:
        self._job, self._limits, self._slot, self._sandboxed = job, limits, slot, sandboxed
        self._stopping = stopping
        self._worker: WorkerProcess | None = None
        self._failure: _Ended | None = None
        self._usage = Usage(0, 0.0)
        self._peak = 0
        self._result = CallResult(Outcome.INFRA_ERROR)

    def prepare(self) -> None:
        """Start the worker and wait for its imports; a failure shows as the result of `run`."""
        started = time.monotonic()
        try:
            self._worker = WorkerProcess(self._job, self._limits, self._slot, sandboxed=self._sandboxed)
            ready = self._expect("ready", lambda: self._limits.startup_s - (time.monotonic() - started))
            self._result = replace(self._result, environment=dict(ready["environment"]))
        except StartError as error:
            self._failure = _Ended(Outcome.INFRA_ERROR, f"the sandbox did not start: {error}")
        except _Ended as ended:
            self._failure = ended
        except BaseException:
            self.discard()
            raise
        self._result = replace(self._result, startup_wall_s=time.monotonic() - started)

    def run(self, seed: int, clock: Clock) -> CallResult:
        """Load the model, start the clock, call the measure; returns whatever became of it.

        Raises `StoppedError`.
        """
        try:
            ended = self._failure or self._converse(seed, clock)
            return self._finish(ended)
        finally:
            self.discard()

    def discard(self) -> None:
        """Kill the worker, if there is one."""
        if self._worker is not None:
            worker, self._worker = self._worker, None
            worker.kill()

    def _converse(self, seed: int, clock: Clock) -> _Ended:
        worker, limits = self._worker, self._limits
        assert worker is not None
        loading = time.monotonic()
        try:
            process_limits = {
                "processes": limits.processes,
                "open_files": limits.open_files,
                "file_bytes": limits.file_bytes,
            }
            worker.send(limits=process_limits, seed=seed)
            self._expect("loaded", lambda: limits.startup_s - (time.monotonic() - loading))
        except _Ended as ended:
            return ended
        self._look()
        load_wall = time.monotonic() - loading
        self._result = replace(self._result, load_wall_s=load_wall, load_cpu_s=self._usage.cpu_s)
        return self._timed(clock)

    def _timed(self, clock: Clock) -> _Ended:
        """The call itself, between the start and the stop of the clock."""
        worker = self._worker
        assert worker is not None
        worker.output = b""  # what the libraries printed is not the submission's output
        started = clock.start()
        try:
            worker.send(event="go")
            ended = _claim(self._expect("result", clock.left, exceeded=clock.meaning))
        except _Ended as early:
            ended = early
        finally:
            wall = clock.stop(started)
        self._look_at_end()
        cpu = max(self._usage.cpu_s - self._result.load_cpu_s, 0.0)
        self._result = replace(self._result, call_wall_s=wall, call_cpu_s=cpu)
        return ended

    def _expect(
        self, event: str, left: Callable[[], float], *, exceeded: str | None = None
    ) -> dict[str, Any]:
        """Wait for the frame `event`, watching time, memory and output; raises `_Ended` and `StoppedError`.

        `exceeded` names the limit on the measure's time; without it the worker is still the harness' own.
        """
        worker = self._worker
        assert worker is not None
        timed = exceeded is not None
        looked = 0.0
        while True:
            if self._stopping():
                raise StoppedError
            remaining = left()
            if remaining <= 0:
                raise _Ended(*self._late(exceeded))
            worker.poll(min(TICK, remaining))
            try:
                frame = worker.frame()
            except ProtocolError as error:
                raise _Ended(Outcome.PROTOCOL if timed else Outcome.INFRA_ERROR, str(error)) from error
            if frame is not None:
                return self._check(frame, event, timed)
            if worker.closed:
                raise _Ended(*self._vanished(timed))
            if time.monotonic() - looked >= TICK:
                self._watch(timed)
                looked = time.monotonic()

    def _check(self, frame: dict[str, Any], event: str, timed: bool) -> dict[str, Any]:
        if frame.get("event") == event:
            return frame
        if not timed and frame.get("event") == "failed":
            raise _Ended(
                Outcome.INFRA_ERROR, f"the model or data could not be loaded: {frame.get('message')}"
            )
        raise _Ended(Outcome.PROTOCOL if timed else Outcome.INFRA_ERROR, f"expected a frame {event!r}")

    def _watch(self, timed: bool) -> None:
        worker, limits = self._worker, self._limits
        assert worker is not None
        self._look()
        if self._usage.memory_bytes > limits.memory_bytes:
            used, limit = self._usage.memory_bytes // MIB, limits.memory_bytes // MIB
            message = f"out of memory (limit {limit} MiB, used {used} MiB)"
            raise _Ended(Outcome.MEMORY, message if timed else f"{message} before the measure was called")
        if worker.output_total > limits.output_bytes:
            raise _Ended(Outcome.OUTPUT, f"printed more than {limits.output_bytes // MIB} MiB")
        if machine_is_exhausted():
            raise _Ended(Outcome.INFRA_ERROR, "the machine has less than 5 % of its memory left")

    def _look(self) -> None:
        assert self._worker is not None
        self._usage = measure(self._worker.pid, self._limits.memory_bytes)
        self._peak = max(self._peak, self._usage.memory_bytes)

    def _look_at_end(self) -> None:
        """A last look; a process that is already gone leaves what was seen before."""
        before = self._usage
        self._look()
        if self._usage.cpu_s < before.cpu_s:
            self._usage = before

    def _late(self, exceeded: str | None) -> tuple[Outcome, str]:
        if exceeded is not None:
            return Outcome.TIMEOUT, f"exceeded {exceeded}"
        return Outcome.INFRA_ERROR, f"no model was loaded within {self._limits.startup_s:g} s"

    def _vanished(self, timed: bool) -> tuple[Outcome, str]:
        assert self._worker is not None
        status = self._worker.wait(1.0)
        how = "closed its control channel" if status is None else _describe_exit(status)
        if timed:
            return Outcome.CRASH, how
        return Outcome.INFRA_ERROR, f"the worker {how} before the measure was called"

    def _finish(self, ended: _Ended) -> CallResult:
        """Kill the worker and put the result together."""
        worker, self._worker = self._worker, None
        outcome, message, tail, survived = ended.outcome, ended.message, "", False
        if worker is not None:
            survived = not worker.kill()
            if survived:
                outcome, message = Outcome.INFRA_ERROR, "the sandbox did not end when it was killed"
            tail = printable(worker.output.decode(errors="replace"))[-TAIL:]
        return replace(
            self._result,
            outcome=outcome,
            value=ended.value if outcome is Outcome.OK else None,
            message=message,
            peak_memory_bytes=self._peak,
            output_tail=tail,
            survived_kill=survived,
        )


def _claim(frame: dict[str, Any]) -> _Ended:
    """Check what the worker says of its own call; nothing here is trusted."""
    status, message = frame.get("status"), frame.get("message", "")
    if status not in CLAIMABLE or not isinstance(message, str):
        return _Ended(Outcome.PROTOCOL, "a result whose status is none that a worker may claim")
    if status != Outcome.OK:
        return _Ended(Outcome(status), printable(message).replace("\n", " ")[:500])
    text = frame.get("value")
    try:
        value = float.fromhex(text) if isinstance(text, str) and len(text) < 64 else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        return _Ended(Outcome.PROTOCOL, "a result that is not a finite number")
    return _Ended(Outcome.OK, value=value)


def _describe_exit(status: int) -> str:
    if status > 128:
        return f"was ended by signal {status - 128}"
    return f"exited with status {status} without a result"


def printable(text: str) -> str:
    """Drop everything that could steer a terminal or a page: only printable characters and newlines stay."""
    return "".join(character for character in text if character.isprintable() or character in "\n\t")
