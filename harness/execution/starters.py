"""How workers are started in a run: afresh, or forked from a process that has done the imports."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self

from harness.errors import UserError
from harness.execution.settings import Settings, Starts
from harness.sandbox.body import StartError, start_fresh, start_plain
from harness.sandbox.cgroup import RunGroup
from harness.sandbox.container import Keeper
from harness.sandbox.delegation import NoCgroupError
from harness.sandbox.devices import Gpu
from harness.sandbox.isolation import Isolation
from harness.sandbox.landlock import start_under_landlock
from harness.sandbox.process import Starter
from harness.sandbox.selftest import CONTROL, run_trial, trial_job
from harness.sandbox.staging import Staging
from harness.sandbox.zygote import Zygote, start_fast


class Starters:
    """Hands out what starts a worker for each version of Keras; a context that ends the processes behind it.

    Use it in a thread that outlives all workers.
    """

    def __init__(self, settings: Settings, warn: Callable[[str], None]) -> None:
        self._settings, self._warn = settings, warn
        self._prepared: set[int] = set()
        self._zygotes: dict[int, Zygote] = {}
        self._keeper: Keeper | None = None
        self._groups: RunGroup | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if self._groups is not None:
            self._groups.close()

    def prepare(self, versions: Iterable[int], staging: Staging, threads: int, gpu: Gpu | None) -> None:
        """Start what the versions of Keras need, if it is not there yet, and try it with a call whose value is known.

        Where fast starts do not work, `auto` warns and goes on with fresh ones; `fast` raises `UserError`.
        """
        new = set(versions) - self._prepared
        self._prepared |= new
        if self._settings.docker is not None and self._keeper is None:
            self._keeper = Keeper()
        if self._settings.isolation is Isolation.BUBBLEWRAP and self._groups is None:
            with suppress(NoCgroupError):  # then the memory watch keeps the limit alone, as `pgdl doctor` says
                self._groups = RunGroup()
        if not self._forks:
            return
        jobs = {keras: trial_job(staging, CONTROL, keras=keras, threads=threads, gpu=gpu) for keras in sorted(new)}
        try:
            self._zygotes |= {keras: Zygote(job) for keras, job in jobs.items()}
            for keras in jobs:
                self._zygotes[keras].wait_until_ready()
                result = run_trial(self.starter(keras), jobs[keras], 0, CONTROL.time_limit_s)
                if not CONTROL.caught(result):
                    raise StartError(f"{result.outcome} {result.message or result.value}")
        except StartError as error:
            if self._settings.isolation is Isolation.LANDLOCK:
                raise UserError(f"the sandbox does not work here: {error}", remedy="see docs/sandbox.md") from error
            reason = f"fast starts do not work here: {error}"
            if self._settings.starts is Starts.FAST:
                raise UserError(reason, remedy="use --sandbox fresh") from error
            self._warn(f"{reason}; every call starts a new interpreter")
            self._close()

    def starter(self, keras: int) -> Starter:
        """What starts a worker with this version of Keras."""
        if self._settings.isolation is Isolation.NONE:
            return start_plain
        if self._settings.docker is not None:
            return self._settings.docker.start
        if self._settings.isolation is Isolation.LANDLOCK:
            return partial(start_under_landlock, zygote=self._zygotes[keras])
        if keras in self._zygotes:
            return partial(start_fast, zygote=self._zygotes[keras], groups=self._groups)
        return partial(start_fresh, groups=self._groups)

    @property
    def _forks(self) -> bool:
        """Whether workers are forked from a process that has done the imports; under Landlock there is no other way."""
        if self._settings.isolation is Isolation.BUBBLEWRAP:
            return self._settings.starts is not Starts.FRESH
        return self._settings.isolation is Isolation.LANDLOCK

    def _close(self) -> None:
        for zygote in self._zygotes.values():
            zygote.close()
        self._zygotes = {}
        if self._keeper is not None:
            self._keeper.close()
            self._keeper = None

    @property
    def sandbox(self) -> str:
        """How a record names the isolation of its call."""
        isolation = self._settings.isolation
        if isolation is Isolation.BUBBLEWRAP:
            return f"{isolation}/{Starts.FAST if self._zygotes else Starts.FRESH}"
        if self._settings.docker is not None:
            return self._settings.docker.isolation
        return str(isolation)
