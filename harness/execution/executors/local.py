"""Runs calls on this machine."""

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from harness.errors import Warn
from harness.execution.executor import Executor
from harness.execution.machine import memory_for, plan_lanes
from harness.execution.order import FinishedCall, Inputs, Order
from harness.execution.pool import Pool
from harness.sandbox import Job, Limits, SandboxChoice, Staging


class Local(Executor):
    """An executor with sandboxes of one kind on this machine; all orders share a pool, staged copies and zygotes."""

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
        self._limits = Limits(memory_bytes=memory_for(memory_bytes, warn))
        self._lanes = plan_lanes(workers, self._limits.memory_bytes)
        self._kind = sandbox.kind(warn)
        self._prepared: set[str] = set()  #: runtimes
        self._stack = ExitStack()

    @property
    def limits(self) -> Limits:
        """Limits of a call."""
        return self._limits

    @property
    def isolation(self) -> str:
        """Isolation of the kind."""
        return self._kind.isolation

    @property
    def is_sandboxed(self) -> bool:
        """Whether the kind is a sandbox at all."""
        return self._kind.is_sandbox

    @property
    def workers(self) -> int:
        """Number of concurrent calls under the clock."""
        return self._lanes.workers

    @property
    def shown(self) -> frozenset[Path]:
        """Directories that the kind shows."""
        return self._kind.shown()

    def versions(self, runtime: str) -> str:
        """Return the versions available to the kind's workers."""
        return self._kind.versions(runtime)

    def expect(self, runtimes: Collection[str]) -> None:
        """Let the kind begin the imports."""
        self._kind.expect(self._trials(runtimes))

    def prepare(self, runtimes: Collection[str]) -> None:
        """Prepare the kind and try the sandbox, once per runtime; raises `UserError`."""
        if trials := self._trials(runtimes):
            self._kind.prepare(trials)
            self._prepared |= set(runtimes)

    def _trials(self, runtimes: Collection[str]) -> list[Job]:
        """Return a call of known value for each runtime that has not been prepared."""
        gpu = self._lanes.gpus[0] if self._lanes.gpus else None
        new = sorted(set(runtimes) - self._prepared)
        return self._kind.trials(self._staging, new, threads=self._lanes.threads, gpu=gpu)

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        """Let the pool make the calls; a submission never shares a sandbox, baselines may."""
        self._pool.add(orders, inputs)

    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        """Return the next finished call of the pool."""
        return self._pool.next(timeout_s)

    @property
    def wanted(self) -> int:
        """Number of the pool's sandboxes for which no batch waits."""
        return self._pool.wanted

    @property
    def under_way(self) -> frozenset[int]:
        """Numbers of the orders that are being made."""
        return self._pool.under_way

    def __enter__(self) -> Self:
        self._staging = self._stack.enter_context(Staging())
        self._stack.enter_context(self._kind)
        self._pool = self._stack.enter_context(Pool(self._lanes, self._kind, self._staging))
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()
