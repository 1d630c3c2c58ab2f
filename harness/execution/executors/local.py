"""The executor that makes calls on this machine."""

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from typing import Self

from harness.errors import Warn
from harness.execution.executor import Executor
from harness.execution.machine import memory_for, plan_lanes
from harness.execution.order import FinishedCall, Inputs, Order
from harness.execution.pool import Pool
from harness.sandbox import Job, Limits, SandboxChoice, Staging


class Local(Executor):
    """Makes calls in sandboxes of one kind on this machine; all orders share a pool, staged copies and zygotes."""

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
        """Choose the kind of sandbox and the lanes of concurrent calls."""
        self.limits = Limits(memory_bytes=memory_for(memory_bytes, warn))
        self._lanes = plan_lanes(workers, self.limits.memory_bytes)
        self._kind = kind = sandbox.kind(warn)
        self.isolation, self.is_sandboxed, self.shown = kind.isolation, kind.is_sandbox, kind.shown()
        self._prepared: set[str] = set()  #: runtimes
        self._stack = ExitStack()

    @property
    def workers(self) -> int:
        """Number of concurrent calls under the clock."""
        return self._lanes.workers

    def versions(self, runtime: str) -> str:
        """Return the versions of the libraries that workers use."""
        return self._kind.versions(runtime)

    def expect(self, runtimes: Collection[str]) -> None:
        """Let the kind of sandbox begin the imports."""
        self._kind.expect(self._trials(runtimes))

    def prepare(self, runtimes: Collection[str]) -> None:
        """Prepare the kind of sandbox, once per runtime. Raise `UserError` if that fails."""
        if trials := self._trials(runtimes):
            self._kind.prepare(trials)
            self._prepared |= set(runtimes)

    def _trials(self, runtimes: Collection[str]) -> list[Job]:
        """Return a call of known value for each runtime that is not prepared yet."""
        gpu = self._lanes.gpus[0] if self._lanes.gpus else None
        new = sorted(set(runtimes) - self._prepared)
        return self._kind.trials(self._staging, new, threads=self._lanes.threads, gpu=gpu)

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        """Queue calls in the pool."""
        self._pool.add(orders, inputs)

    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        """Return the next finished call of the pool."""
        return self._pool.next(timeout_s)

    @property
    def wanted(self) -> int:
        """Number of sandboxes for which no batch waits."""
        return self._pool.wanted

    @property
    def under_way(self) -> frozenset[int]:
        """Numbers of the orders whose calls are being made."""
        return self._pool.under_way

    def __enter__(self) -> Self:
        self._staging = self._stack.enter_context(Staging())
        self._stack.enter_context(self._kind)
        self._pool = self._stack.enter_context(Pool(self._lanes, self._kind, self._staging))
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()
