"""The executor that makes calls on this machine."""

import queue
import threading
from collections import deque
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Self

from harness.errors import UserError, Warn
from harness.execution.batches import Batch, make_batches, modules, write_batch
from harness.execution.budget import Clocks
from harness.execution.executor import Executor
from harness.execution.machine import Cores, describe_machine, memory_for, plan_lanes
from harness.execution.order import FinishedCall, Inputs, Order
from harness.gpus import Gpu
from harness.outcome import CallResult, Outcome, StoppedError
from harness.sandbox import Call, Job, Limits, SandboxChoice, Staging


class Local(Executor):
    """Makes calls on this machine, in sandboxes of one kind. Several threads make calls, each in its own sandboxes."""

    name = "local"
    summary = "on this machine"

    def __init__(
        self,
        sandbox: SandboxChoice,
        memory_bytes: int | None,
        workers: int | None,
        warn: Warn,
        **parameters: str | None,
    ) -> None:
        self.limits = Limits(memory_bytes=memory_for(memory_bytes, warn))
        self._lanes = lanes = plan_lanes(workers, self.limits.memory_bytes)
        self._kind = kind = sandbox.kind(warn)
        self.isolation, self.is_sandboxed, self.shown = kind.isolation, kind.is_sandbox, kind.shown()
        self._stack = ExitStack()
        self._prepared: set[str] = set()  #: names of runtimes
        self._machine = describe_machine() | {"threads": str(lanes.threads)}
        self._stopping = threading.Event()
        self._cores = Cores(lanes.cores)
        #: Semaphores for calls whose clocks run: one for each GPU, or a common semaphore without GPUs.
        permits = [threading.Semaphore(1) for _ in lanes.gpus] or [threading.Semaphore(lanes.workers)]
        self._permits = permits[: lanes.workers]
        self._clocks = Clocks()
        self._waiting: deque[tuple[Batch, Inputs]] = deque()
        self._changed = threading.Condition()  #: guards `_waiting`
        self._returned: queue.SimpleQueue[FinishedCall[int] | BaseException] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._is_retired = False
        self._under_way: dict[int, int] = {}  #: number of a thread -> number of the order that it works on

    def __enter__(self) -> Self:
        self._staging = self._stack.enter_context(Staging())
        self._stack.enter_context(self._kind)
        self._stack.callback(self._end_threads)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    @property
    def workers(self) -> int:
        """Maximum number of calls whose clocks run at the same time."""
        return self._lanes.workers

    def versions(self, runtime: str) -> str:
        """Return the versions of the libraries that workers use."""
        return self._kind.versions(runtime)

    def expect(self, runtimes: Collection[str]) -> None:
        """Start the imports of these runtimes, without waiting for them."""
        self._kind.expect(self._trials(runtimes))

    def prepare(self, runtimes: Collection[str]) -> None:
        """Prepare the sandbox for each runtime, once. Raise `UserError` if that fails."""
        if trials := self._trials(runtimes):
            self._kind.prepare(trials)
            self._prepared |= set(runtimes)

    def _trials(self, runtimes: Collection[str]) -> list[Job]:
        gpu = self._lanes.gpus[0] if self._lanes.gpus else None
        new = sorted(set(runtimes) - self._prepared)
        return self._kind.trials(self._staging, new, threads=self._lanes.threads, gpu=gpu)

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        """Queue orders. Baselines on the same model share a sandbox if their orders are added together."""
        with self._changed:
            self._clocks.update(orders)
            self._waiting.extend((batch, inputs) for batch in make_batches(orders))
            for slot in range(len(self._threads), min(self._lanes.sandboxes, len(self._threads) + len(self._waiting))):
                thread = threading.Thread(target=self._work, args=(slot,), name=f"sandbox-{slot}")
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()

    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        """Return the next finished call; None if no call ends within `timeout_s` seconds.

        Raise `UserError` if a sandbox did not end when it was killed. If a thread has failed, raise its error.
        """
        try:
            item = self._returned.get(timeout=0 if self._is_retired else timeout_s)
        except queue.Empty:
            if self._is_retired:
                raise UserError(
                    "a sandbox did not end when it was killed; no further calls are made on this machine",
                    remedy="look for processes stuck in a driver (state D), then run the same command again",
                ) from None
            return None
        if isinstance(item, BaseException):
            raise item
        return item

    @property
    def wanted(self) -> int:
        """Number of batches to add so that each sandbox has a batch waiting."""
        return max(self._lanes.sandboxes - len(self._waiting), 0)

    @property
    def under_way(self) -> frozenset[int]:
        """Numbers of the orders whose calls are being made or whose sandboxes are being started."""
        return frozenset(self._under_way.copy().values())

    def _end_threads(self) -> None:
        self._stop()
        for thread in self._threads:
            thread.join()

    def _stop(self) -> None:
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()

    def _work(self, slot: int) -> None:
        try:
            while (waiting := self._next()) is not None:
                self._run(*waiting, slot)
        except StoppedError:
            pass
        except BaseException as error:
            self._returned.put(error)

    def _next(self) -> tuple[Batch, Inputs] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopping.is_set() or self._waiting)
            return None if self._stopping.is_set() else self._waiting.popleft()

    def _run(self, batch: Batch, inputs: Inputs, slot: int) -> None:
        """Make the calls of a batch in one sandbox. If the sandbox ends early, queue the remaining calls again."""
        waiting = deque(order for order in batch if not self._refuse(order))
        if not waiting:
            return
        batch, started_at = tuple(waiting), datetime.now(UTC)
        self._under_way[slot] = waiting[0].number
        lane = slot % len(self._permits)
        gpu = self._lanes.gpus[lane] if self._lanes.gpus else None
        with ExitStack() as held:
            with self._cores.take(1):
                job = self._job(batch, inputs, gpu, held)
                call = Call.prepare(self._kind.start, job, waiting[0].limits, slot, stopping=self._stopping.is_set)
            if isinstance(call, CallResult):
                self._end(waiting.popleft(), call, started_at, gpu)
            else:
                held.callback(call.discard)
                with self._permits[lane], ExitStack() as cores:
                    cores.enter_context(self._cores.take(self._lanes.threads))
                    call.killed = cores.close
                    self._call_each(call, batch, waiting, slot, gpu)
        self._under_way.pop(slot)
        if waiting:
            with self._changed:
                self._waiting.appendleft((tuple(waiting), inputs))
                self._changed.notify()

    def _call_each(self, call: Call, batch: Batch, waiting: deque[Order], slot: int, gpu: Gpu | None) -> None:
        names = modules(batch)
        while waiting and not call.is_over:
            order, started_at = waiting.popleft(), datetime.now(UTC)
            if not self._refuse(order):
                self._under_way[slot] = order.number
                clock, name = self._clocks.of(order), names[order.number]
                result = call.run(order.seed, clock, name, keep=bool(waiting))
                self._end(order, result, started_at, gpu)

    def _refuse(self, order: Order) -> bool:
        """If a call's time budget is used up, end the call with `TIMEOUT` before its start, and return True."""
        clock = self._clocks.of(order)
        if clock.left() > 0:
            return False
        result = CallResult(Outcome.TIMEOUT, message=f"not started: earlier calls used up {clock.meaning}")
        self._end(order, result, datetime.now(UTC))
        return True

    def _end(self, order: Order, result: CallResult, started_at: datetime, gpu: Gpu | None = None) -> None:
        given = {} if gpu is None else {"gpu": gpu.model}
        machine = self._machine | given
        self._returned.put(FinishedCall(order.number, result, started_at, machine, self._kind.name_in_records))
        if result.survived_kill:
            self._is_retired = True
            self._stop()

    def _job(self, batch: Batch, inputs: Inputs, gpu: Gpu | None, held: ExitStack) -> Job:
        """Return the inputs and settings of a batch's sandbox. Once `held` is closed, the inputs may be removed."""
        model, data = batch[0].model, batch[0].data
        # A participant may hand in a copy of a baseline: the digests are equal, but the modules have different names.
        files = " ".join(f"{modules(batch)[order.number]} {order.submission}" for order in batch)
        staged = self._staging.hold
        return Job(
            worker=self._staging.worker(),
            submission=held.enter_context(
                staged(f"submissions {files}", lambda target: write_batch(batch, inputs.files, target))
            ),
            model=held.enter_context(staged(f"model {model}", lambda target: inputs.write_model(model, target))),
            data=held.enter_context(staged(f"data {data}", lambda target: inputs.write_data(data, target))),
            runtime=batch[0].runtime,
            threads=self._lanes.threads,
            gpu=gpu,
        )
