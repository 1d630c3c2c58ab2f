"""Threads that run planned calls concurrently, each thread in its own sandboxes."""

import queue
import threading
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Self

from harness.execution.batches import Batch, make_batches, modules, write_batch
from harness.execution.executor import Done
from harness.execution.machine import Cores, Lanes, describe_machine
from harness.execution.plan import PlannedCall
from harness.outcome import CallResult, Outcome
from harness.sandbox import Call, Gpu, Job, Kind, Staging, StoppedError, prepare_call
from harness.threads import run_threads


class Pool:
    """Threads that take calls in order; each owns the sandboxes that it starts.

    Use it as a context manager: leaving the context, for whatever reason, kills every sandbox.
    """

    def __init__(self, lanes: Lanes, kind: Kind, staging: Staging) -> None:
        self._lanes, self._kind, self._staging = lanes, kind, staging
        self._machine = describe_machine() | {"threads": str(lanes.threads)}
        self._stopping = threading.Event()
        self._cores = Cores(lanes.cores)
        #: Permits for calls under the clock: one semaphore per GPU in use, or one for all lanes.
        permits = [threading.Semaphore(1) for _ in lanes.gpus] or [threading.Semaphore(lanes.workers)]
        self._permits = permits[: lanes.workers]
        self._batches: deque[Batch] = deque()
        self._done: queue.SimpleQueue[Done | BaseException | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def run(self, calls: Sequence[PlannedCall]) -> Generator[Done]:
        """Run the calls; yields each as it ends, in any order."""
        self._batches.extend(make_batches(calls))
        self._threads = [
            threading.Thread(target=self._work, args=(slot,), name=f"sandbox-{slot}")
            for slot in range(min(self._lanes.sandboxes, len(self._batches)))
        ]
        yield from run_threads(self._threads, self._done)

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
        """Run a batch in one sandbox; if the sandbox ends early, the remaining calls are queued as another batch."""
        waiting = deque(planned for planned in batch if not self._refuse(planned))
        if not waiting:
            return
        batch, started_at = tuple(waiting), datetime.now(UTC)
        lane = slot % len(self._permits)
        gpu = self._lanes.gpus[lane] if self._lanes.gpus else None
        with ExitStack() as held:
            with self._cores.take(1):
                job = self._job(batch, gpu, held)
                call = prepare_call(self._kind.start, job, batch[0].limits, slot, stopping=self._stopping.is_set)
            if isinstance(call, CallResult):
                self._end(waiting.popleft(), call, started_at, gpu)
            else:
                held.callback(call.discard)
                with self._permits[lane], self._cores.take(self._lanes.threads):
                    self._call_each(call, batch, waiting, gpu)
        if waiting:
            self._batches.appendleft(tuple(waiting))

    def _call_each(self, call: Call, batch: Batch, waiting: deque[PlannedCall], gpu: Gpu | None) -> None:
        names = modules(batch)
        while waiting and not call.is_over:
            planned, started_at = waiting.popleft(), datetime.now(UTC)
            if not self._refuse(planned):
                result = call.run(planned.seed, planned.budget.clock(), names[planned.key], keep=bool(waiting))
                self._end(planned, result, started_at, gpu)

    def _refuse(self, planned: PlannedCall) -> bool:
        """End a call that has a `refusal`; returns whether it had one."""
        result = refusal(planned)
        if result is not None:
            self._end(planned, result, datetime.now(UTC))
        return result is not None

    def _end(self, planned: PlannedCall, result: CallResult, started_at: datetime, gpu: Gpu | None = None) -> None:
        given = {} if gpu is None else {"gpu": gpu.model}
        self._done.put(Done(planned, result, started_at, self._machine | given, self._kind.recorded))

    def _job(self, batch: Batch, gpu: Gpu | None, held: ExitStack) -> Job:
        """Stage the inputs of a batch for as long as the stack `held` is open; shared inputs are staged once."""
        planned = batch[0]
        model, data = planned.model, planned.task.data
        digests = " ".join(call.submission.digest for call in batch)
        staged = self._staging.hold
        return Job(
            worker=self._staging.worker(),
            submission=held.enter_context(staged(f"submissions {digests}", lambda target: write_batch(batch, target))),
            model=held.enter_context(staged(f"model {model.digest}", model.write_canonical)),
            data=held.enter_context(staged(f"data {data.digest}", data.write_canonical)),
            runtime=planned.runtime,
            threads=self._lanes.threads,
            gpu=gpu,
        )


def refusal(planned: PlannedCall) -> CallResult | None:
    """Return the result of a call that fails without being started, None for any other call."""
    if planned.submission.problem is not None:
        return CallResult(Outcome.INVALID_SUBMISSION, message=planned.submission.problem)
    clock = planned.budget.clock()
    if clock.left() <= 0:
        return CallResult(Outcome.TIMEOUT, message=f"not started: earlier calls used up {clock.meaning}")
    return None
