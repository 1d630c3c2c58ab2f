"""Runs planned calls side by side on this machine, each in a sandbox of its own."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.execution.batches import Batch, make_batches, module_of, write_batch
from harness.execution.machine import Lanes
from harness.execution.plan import PlannedCall
from harness.execution.starters import Starters
from harness.sandbox.call import Call, StoppedError, prepare_call
from harness.sandbox.clock import Clock
from harness.sandbox.devices import Gpu
from harness.sandbox.job import Job
from harness.sandbox.limits import Limits
from harness.sandbox.outcome import Outcome
from harness.sandbox.result import CallResult
from harness.sandbox.staging import Staging


@dataclass(frozen=True)
class Done:
    """A call that is over."""

    planned: PlannedCall
    result: CallResult
    started_at: datetime


class Cores:
    """A counted set of cores, taken and given back several at a time."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._changed = threading.Condition()

    @contextmanager
    def take(self, number: int) -> Iterator[None]:
        """Hold `number` cores."""
        with self._changed:
            self._changed.wait_for(lambda: self._free >= number)
            self._free -= number
        try:
            yield
        finally:
            with self._changed:
                self._free += number
                self._changed.notify_all()


class Pool:
    """A set of threads that take calls in order; each owns the sandboxes that it starts.

    Use as a context manager: leaving it, for whatever reason, kills every sandbox.
    """

    def __init__(
        self, lanes: Lanes, limits: Limits, staging: Staging, starters: Starters, clock: Callable[[PlannedCall], Clock]
    ) -> None:
        self._lanes, self._limits, self._staging = lanes, limits, staging
        self._starters, self._clock = starters, clock
        self._stopping = threading.Event()
        self._staging_lock = threading.Lock()
        self._cores = Cores(lanes.cores)
        places = [threading.Semaphore(1) for _ in lanes.gpus] or [threading.Semaphore(lanes.workers)]
        self._places = places[: lanes.workers]
        self._batches: deque[Batch] = deque()
        self._done: queue.SimpleQueue[Done | BaseException | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def prepare(self, calls: Sequence[PlannedCall]) -> None:
        """Get ready to make calls: import what they need, and try the sandbox; raises `UserError`."""
        gpu = self._lanes.gpus[0] if self._lanes.gpus else None
        if calls:
            versions = {call.keras for call in calls}
            self._starters.prepare(versions, self._staging, self._lanes.threads, gpu)

    def run(self, calls: Sequence[PlannedCall]) -> Iterator[Done]:
        """Yield every call as it ends, in whatever order that is."""
        self._batches.extend(make_batches(calls))
        self.prepare(calls)
        self._threads = [
            threading.Thread(target=self._work, args=(slot,), name=f"sandbox-{slot}")
            for slot in range(min(self._lanes.sandboxes, len(self._batches)))
        ]
        for thread in self._threads:
            thread.start()
        working = len(self._threads)
        while working:
            item = self._done.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                working -= 1
            else:
                yield item

    def _work(self, slot: int) -> None:
        try:
            while not self._stopping.is_set() and (batch := self._next()):
                self._run(batch, slot)
        except StoppedError:
            pass
        except BaseException as error:
            self._done.put(error)
        finally:
            self._done.put(None)

    def _next(self) -> Batch | None:
        try:
            return self._batches.popleft()
        except IndexError:
            return None

    def _run(self, batch: Batch, slot: int) -> None:
        """Make the calls of a batch in one sandbox; those that it cannot make any more go back as another batch."""
        started_at = datetime.now(UTC)
        waiting = deque(planned for planned in batch if not self._refused(planned, started_at))
        if not waiting:
            return
        batch = tuple(waiting)
        place = slot % len(self._places)
        gpu = self._lanes.gpus[place] if self._lanes.gpus else None
        with self._cores.take(1):
            start = self._starters.starter(batch[0].keras)
            call = prepare_call(start, self._job(batch, gpu), self._limits, slot, stopping=self._stopping.is_set)
        if isinstance(call, CallResult):
            self._done.put(Done(waiting.popleft(), call, started_at))
        else:
            try:
                with self._places[place], self._cores.take(self._lanes.threads):
                    self._call_each(call, batch, waiting)
            finally:
                call.discard()
        if waiting:
            self._batches.appendleft(tuple(waiting))

    def _call_each(self, call: Call, batch: Batch, waiting: deque[PlannedCall]) -> None:
        while waiting and not call.is_over:
            planned, started_at = waiting.popleft(), datetime.now(UTC)
            if not self._refused(planned, started_at):
                module = module_of(batch, planned)
                result = call.run(planned.seed, self._clock(planned), module, keep=bool(waiting))
                self._done.put(Done(planned, result, started_at))

    def _refused(self, planned: PlannedCall, started_at: datetime) -> bool:
        """Whether a call need not be started; then it is done."""
        clock = self._clock(planned)
        if planned.submission.problem is not None:
            result = CallResult(Outcome.INVALID_SUBMISSION, message=planned.submission.problem)
        elif clock.left() <= 0:
            result = CallResult(Outcome.TIMEOUT, message=f"not started: earlier calls used up {clock.meaning}")
        else:
            return False
        self._done.put(Done(planned, result, started_at))
        return True

    def _job(self, batch: Batch, gpu: Gpu | None) -> Job:
        """Stage what the calls need; what several batches share is staged once."""
        planned = batch[0]
        model, data = planned.model, planned.task.data
        digests = " ".join(call.submission.digest for call in batch)
        with self._staging_lock:
            return Job(
                worker=self._staging.worker(),
                submission=self._staging.stage(f"submissions {digests}", lambda place: write_batch(batch, place)),
                model=self._staging.stage(f"model {model.digest}", model.write_canonical),
                data=self._staging.stage(f"data {data.digest}", data.write_canonical),
                keras=planned.keras,
                threads=self._lanes.threads,
                gpu=gpu,
            )
