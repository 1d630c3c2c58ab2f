"""The executor that makes calls on this machine."""

from collections.abc import Collection

from harness.errors import Warn
from harness.execution.machine import memory_for, plan_lanes
from harness.execution.pool import Pool
from harness.sandbox import Job, Limits, SandboxChoice


class Local(Pool):
    """Makes calls on this machine, in sandboxes of one kind."""

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
        lanes, kind = plan_lanes(workers, self.limits.memory_bytes), sandbox.kind(warn)
        super().__init__(lanes, kind)
        self.isolation, self.is_sandboxed, self.shown = kind.isolation, kind.is_sandbox, kind.shown()
        self._prepared: set[str] = set()  #: names of runtimes

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
