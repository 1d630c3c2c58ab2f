"""Runs calls on this machine."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.execution.executor import Done, Executor
from harness.execution.machine import plan_lanes
from harness.execution.plan import PlannedCall
from harness.execution.pool import Pool
from harness.sandbox import CONTROL, Kind, Limits, Staging, trial_job


class Local(Executor):
    """Sandboxes of one kind on this machine; staged copies and zygotes outlive one `run`."""

    name = "local"

    def __init__(self, kind: Kind, limits: Limits, workers: int | None) -> None:
        self._kind, self._lanes = kind, plan_lanes(workers, limits.memory_bytes)
        self._prepared: set[str] = set()  #: runtimes
        self._stack = ExitStack()

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

    def versions(self, runtime: str) -> str:
        """Return the versions available to the kind's workers."""
        return self._kind.versions(runtime)

    def require_unseen(self, paths: Iterable[Path]) -> None:
        """Raise `UserError` if a worker could read one of `paths`."""
        self._kind.require_unseen(paths)

    def prepare(self, calls: Sequence[PlannedCall]) -> None:
        """Prepare the kind and try the sandbox, once per runtime; raises `UserError`."""
        new = {call.runtime for call in calls} - self._prepared
        if new:
            gpu = self._lanes.gpus[0] if self._lanes.gpus else None
            threads = self._lanes.threads
            self._kind.prepare(
                [trial_job(self._staging, CONTROL, runtime=name, threads=threads, gpu=gpu) for name in sorted(new)]
            )
            self._prepared |= new

    def run(self, calls: Sequence[PlannedCall]) -> Generator[Done]:
        """Make calls concurrently; a submission never shares a sandbox, baselines may."""
        self.prepare(calls)
        with Pool(self._lanes, self._kind, self._staging) as pool, closing(pool.run(calls)) as done:
            yield from done

    def __enter__(self) -> Self:
        self._staging = self._stack.enter_context(Staging())
        self._stack.enter_context(self._kind)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
