"""A call of a submission on a model: the conversation with its worker, its clock and its limits."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from harness.configuration import MIB
from harness.machine_memory import memory_kills, usable_memory
from harness.outcome import LONGEST_OUTPUT_TAIL, CallResult, Outcome, StoppedError
from harness.sandbox.clock import TICK, Clock, Deadline
from harness.sandbox.job import Job, Limits
from harness.sandbox.memory import MemoryWatch, Usage, end_and_measure, is_exhausted, measure
from harness.sandbox.process import (
    MESSAGE,
    Ended,
    Interrupted,
    ProtocolError,
    Starter,
    WorkerProcess,
    printable,
    read_claim,
)
from harness.sandbox.running_sandbox import KILLED, LostError, StartError
from harness.sandbox.stack import place_in, without_worker

#: A call is ended if it has more than this many times its allowed number of processes and threads. The kernel enforces
#: the number only roughly: never for root without capabilities, and for all processes of an ordinary user together.
WATCHED = 2

#: Minimum processor time of a measured call in seconds. A record with 0 means that the time could not be measured.
LEAST_CPU_S = 0.001

#: If the kernel kills a worker for lack of memory, the call is to blame if it used more than this share of its limit.
#: Calls within their limits leave a tenth of the memory free, and a fast growing call is measured late.
BLAMED = 0.5

#: Part of the message about a worker that SIGKILL ended: the harness cannot see which process sent the signal.
FROM_OUTSIDE = "by itself or from outside; if from outside, pgdl run --force repeats the call"

#: Suffix of messages about the time before the call.
NOT_CALLED = " before the measure was called"

#: Outcomes after which the worker can run another measure.
HARMLESS = {Outcome.OK, Outcome.EXCEPTION, Outcome.BAD_VALUE}


class Call:
    """A call of a measure in a started worker. `run` makes the call, then kills the worker; `discard` only kills it.

    Baselines may share a worker: the caller calls `run` with `keep=True` for each baseline, while `is_over` is false.
    """

    def __init__(self, worker: WorkerProcess, limits: Limits, stopping: Callable[[], bool]) -> None:
        self._worker, self._limits, self._stopping = worker, limits, stopping
        self._usage = Usage(0, 0.0)
        self._watch = MemoryWatch(
            lambda: measure(worker.sandbox.processes, limits.memory_bytes, self._deadline_passed), TICK
        )
        self._peak = 0
        self._kills = memory_kills()
        self._cpu_before = 0.0  #: processor seconds used before the current measure, loading included
        self._phase = NOT_CALLED  #: suffix of messages; empty once the measure is called
        self._deadline: Deadline | None = None  #: deadline of the current measure
        self._place = ""  #: path of the submission's directory inside the sandbox
        self._result = CallResult(Outcome.INFRA_ERROR)
        self.is_over = False
        self.killed: Callable[[], None] = lambda: None  #: is called once the sandbox is killed, before its end

    @classmethod
    def prepare(
        cls, start: Starter, job: Job, limits: Limits, slot: int, stopping: Callable[[], bool]
    ) -> "Self | CallResult":
        """Start a worker and wait for its imports. Return the call, or its result if the start failed.

        The clock of the call does not run during the start, so another call may be made at the same time. Raise
        `StoppedError` as soon as `stopping` returns true.
        """
        started = time.monotonic()
        try:
            worker = WorkerProcess(start, job, limits, slot)
        except StartError as error:
            reason = " ".join(printable(str(error)).split())[:MESSAGE]  # an engine of containers may print pages
            return CallResult(Outcome.INFRA_ERROR, message=f"the sandbox did not start: {reason}")
        try:
            call = cls(worker, limits, stopping)
        except RuntimeError as error:  # no thread can be started: other calls may have started too many processes
            worker.kill()
            return CallResult(Outcome.INFRA_ERROR, message=f"the sandbox did not start: {error}")
        try:
            call._wait_until_ready(started)
        except Ended as ended:
            return call.finish(ended)
        except BaseException:
            call.discard()
            raise
        return call

    def _wait_until_ready(self, started: float) -> None:
        ready = self._expect("ready", lambda: self._limits.startup_s - (time.monotonic() - started))
        if self._worker.sandbox.storage() is None:
            raise Ended(Outcome.INFRA_ERROR, "the harness cannot inspect the sandbox, and so cannot enforce its limits")
        startup = time.monotonic() - started
        self._result = replace(self._result, startup_wall_s=startup, environment=dict(ready["environment"]))

    def run(self, seed: int, clock: Clock, module: str = "complexity", *, keep: bool = False) -> CallResult:
        """Load the model, start the clock, call the measure of `module`, and return the result.

        With `keep`, the worker is not killed after an outcome in `HARMLESS`, so it can run another measure. Raise
        `StoppedError` as soon as the run is being stopped.
        """
        self._phase = NOT_CALLED
        try:
            self._load(seed, module)
            ended = self._timed(clock)
        except Ended as early:
            ended = early
        if not keep or ended.outcome not in HARMLESS:
            return self.finish(ended)
        result = self._report(ended)
        self._result = CallResult(Outcome.INFRA_ERROR, environment=result.environment)  # of the next measure
        self._peak = 0
        return result

    def process_ids(self) -> list[int]:
        """Return the IDs of the call's processes, outside the sandbox."""
        return [*self._worker.sandbox.processes.numbers().values()]

    def discard(self) -> None:
        """Kill the worker unless the call is over."""
        if not self.is_over:
            self.is_over = True
            self._watch.close()
            self._worker.kill()

    def finish(self, ended: Ended) -> CallResult:
        """Kill the sandbox, call `self.killed`, and wait for the sandbox's end. Return the call's result.

        The result is `ended`, unless memory ran out or the sandbox survived.
        """
        self.is_over = True
        self._watch.close()
        if self._worker.sandbox.ran_out_of_memory():  # overrides any claim of the worker
            limit = self._limits.memory_bytes
            self._peak = max(self._peak, limit)
            ended = Ended(Outcome.MEMORY, f"out of memory (limit {limit // MIB} MiB, all of it used){self._phase}")
        survived = not self._worker.kill(self.killed)
        if survived:
            ended = Ended(Outcome.INFRA_ERROR, "the sandbox did not end when it was killed")
        return replace(self._report(ended), survived_kill=survived)

    def _report(self, ended: Ended) -> CallResult:
        output = without_worker(printable(self._worker.output.decode(errors="replace")))
        place = place_in(output, self._place) if ended.outcome is Outcome.TIMEOUT else ""
        return replace(
            self._result,
            outcome=ended.outcome,
            value=ended.value,
            message=f"{ended.message}, at {place}" if place else ended.message,
            place=place,
            interrupted=isinstance(ended, Interrupted),
            peak_memory_bytes=self._peak,
            output_tail=output[-LONGEST_OUTPUT_TAIL:],
        )

    def _load(self, seed: int, module: str) -> None:
        limits, loading = self._limits, time.monotonic()
        bounds = {
            "processes": limits.processes,
            "open_files": limits.open_files,
            "file_bytes": limits.file_bytes,
            "memory_bytes": limits.memory_bytes,
        }
        self._worker.send(limits=bounds, seed=seed, module=module)
        loaded = self._expect("loaded", lambda: limits.startup_s - (time.monotonic() - loading))
        load_cpu = 0.0
        if not self._cpu_before:  # for later measures, the model is already loaded
            self._sample_usage()
            load_cpu = self._cpu_before = self._usage.cpu_s
        load_wall = time.monotonic() - loading
        self._place = str(loaded["place"])
        environment = self._result.environment | {"device": str(loaded["device"])}
        self._result = replace(self._result, load_wall_s=load_wall, load_cpu_s=load_cpu, environment=environment)
        self._worker.output = b""  # drop the output of libraries

    def _timed(self, clock: Clock) -> Ended:
        self._phase = ""
        started = clock.start()
        left = clock.left()
        self._deadline = deadline = Deadline(left, self._worker.sandbox.kill)
        try:
            with deadline:
                self._worker.send(event="go", seconds=left)
                ended = read_claim(self._expect("result", clock.left, exceeded=clock.meaning))
        except Ended as early:
            ended = early
        finally:
            wall = clock.stop(started, deadline.passed_at)
        if deadline.paused_s:
            ended = Interrupted(f"the harness was stopped for {deadline.paused_s:.1f} s during the call")
        if isinstance(ended, Interrupted):
            clock.spend(-wall)
            return ended
        self._sample_usage()
        # The times of loading show whether the system measures processor time. A short call may take less than a tick.
        cpu = max(self._usage.cpu_s - self._cpu_before, LEAST_CPU_S if self._usage.cpu_s else 0.0)
        self._cpu_before = self._usage.cpu_s
        self._result = replace(self._result, call_wall_s=wall, call_cpu_s=cpu)
        if ended.outcome is Outcome.TIMEOUT:
            return Ended(Outcome.TIMEOUT, f"{ended.message} (used {wall:.2f} s, {cpu:.2f} s of processor time)")
        return ended

    def _expect(self, event: str, left: Callable[[], float], *, exceeded: str | None = None) -> dict[str, Any]:
        """Wait for the worker's message `event` and return it. Raise `Ended` if a limit is exceeded or the worker ends.

        `left` returns the remaining seconds. `exceeded` is the name of the time limit in messages, and None before the
        measure is called. Raise `StoppedError` as soon as the run is being stopped.
        """
        timed = exceeded is not None
        next_check = 0.0
        while True:
            if self._stopping():
                raise StoppedError
            remaining = left()
            if remaining <= 0:
                raise self._timeout(exceeded)
            self._worker.poll(min(TICK, remaining))
            try:
                frame = self._worker.frame()
            except ProtocolError as error:
                raise Ended(Outcome.PROTOCOL if timed else Outcome.INFRA_ERROR, str(error)) from error
            if frame is not None:
                return _check(frame, event, timed)
            if self._worker.closed:
                raise self._timeout(exceeded) if left() <= 0 else self._disconnected(timed)
            if time.monotonic() >= next_check:
                self._enforce_limits()
                next_check = time.monotonic() + TICK

    def _enforce_limits(self) -> None:
        storage = self._worker.sandbox.storage()
        if storage is None:  # the sandbox is not set up yet
            return
        self._sample_usage()
        limits = self._limits
        scratch_bytes = limits.scratch_bytes + limits.shared_memory_bytes
        for outcome, problem, used, limit, unit in (
            (Outcome.MEMORY, "out of memory", self._usage.memory_bytes, limits.memory_bytes, MIB),
            (Outcome.MEMORY, "too many processes and threads", self._usage.threads, WATCHED * limits.processes, 1),
            (Outcome.MEMORY, "too many sockets", storage.sockets, limits.sockets, 1),
            (Outcome.OUTPUT, "printed too much", self._worker.output_total, limits.output_bytes, MIB),
            (Outcome.OUTPUT, "wrote too much", storage.scratch_bytes, scratch_bytes, MIB),
            (Outcome.OUTPUT, "wrote too many files", storage.scratch_files, limits.scratch_files, 1),
        ):
            if used > limit:
                self._worker.sandbox.kill()  # at once: usage keeps growing
                name = " MiB" if unit == MIB else ""
                raise Ended(outcome, f"{problem} (limit {limit // unit}{name}, used {used // unit}{name}){self._phase}")
        if is_exhausted():
            self._relieve_machine()

    def _relieve_machine(self) -> None:
        """If the machine lacks memory, kill the call, and raise `Ended`.

        The outcome is `MEMORY` if the call exceeded its own limits, otherwise `INFRA_ERROR`.
        """
        freed = end_and_measure(self._worker.end)
        if freed is None:
            return
        limits = self._limits
        used = f"(limit {limits.memory_bytes // MIB} MiB, used {freed // MIB} MiB)"
        if freed > limits.memory_bytes + limits.scratch_bytes + limits.shared_memory_bytes:
            self._peak = max(self._peak, freed)
            raise Ended(Outcome.MEMORY, f"out of memory, and so is the machine {used}{self._phase}")
        raise Ended(Outcome.INFRA_ERROR, f"less than 5 % of the machine's memory is left, not due to this call {used}")

    def _killed_by_kernel(self) -> Ended:
        """Return the outcome of a call killed by the kernel: `MEMORY` if the call is to blame, else `INFRA_ERROR`."""
        limit, memory = self._limits.memory_bytes, usable_memory()
        used = f"(limit {limit // MIB} MiB, used {self._peak // MIB} MiB when last measured)"
        end = f"the kernel ended the worker when {memory.whose} {memory.total // MIB} MiB were used up"
        if self._phase or self._peak < BLAMED * limit:
            return Ended(Outcome.INFRA_ERROR, f"{end}, not due to this call {used}{self._phase}")
        return Ended(Outcome.MEMORY, f"out of memory {used}: {end}")

    def _sample_usage(self) -> None:
        used = self._watch.sample()
        if used is not None:
            cpu_s = max(used.cpu_s, self._usage.cpu_s)  # some processes may have ended
            self._usage = replace(used, cpu_s=cpu_s)
            self._peak = max(self._peak, self._usage.memory_bytes)

    def _deadline_passed(self) -> bool:
        """Return whether the deadline has passed. Measurements end then, so that they do not delay the kill."""
        return self._deadline is not None and self._deadline.passed_at is not None

    def _timeout(self, exceeded: str | None) -> Ended:
        if exceeded is not None:
            return Ended(Outcome.TIMEOUT, f"exceeded {exceeded}")
        return Ended(Outcome.INFRA_ERROR, f"no model was loaded within {self._limits.startup_s:g} s")

    def _disconnected(self, timed: bool) -> Ended:
        try:
            status = self._worker.wait(1.0)
        except LostError as error:
            return Interrupted(f"{error}{self._phase}")
        if status == KILLED and memory_kills() > self._kills:
            return self._killed_by_kernel()
        if status is None:
            how = "closed its control channel"
        elif status > 128:
            how = f"was ended by signal {status - 128}"
        else:
            how = f"exited with status {status} without a result"
        if timed:
            return Ended(Outcome.CRASH, f"{how}, {FROM_OUTSIDE}" if status == KILLED else how)
        return Ended(Outcome.INFRA_ERROR, f"the worker {how}{self._phase}")


def _check(frame: dict[str, Any], event: str, timed: bool) -> dict[str, Any]:
    if frame.get("event") == event:
        return frame
    if not timed and frame.get("event") == "failed":
        message = printable(str(frame.get("message")))
        raise Ended(Outcome.INFRA_ERROR, f"the model or data could not be loaded: {message}")
    raise Ended(Outcome.PROTOCOL if timed else Outcome.INFRA_ERROR, f"expected a frame {event!r}")
