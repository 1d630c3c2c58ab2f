"""How workers are started in a run: afresh, or forked from a process that has done the imports."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from types import TracebackType
from typing import Self

from harness.errors import UserError
from harness.sandbox.body import StartError, start_fresh, start_plain
from harness.sandbox.devices import Gpu
from harness.sandbox.process import Starter
from harness.sandbox.selftest import CONTROL, run_trial, trial_job
from harness.sandbox.staging import Staging
from harness.sandbox.zygote import Zygote


class Starts(StrEnum):
    """How the workers of a run are started; values of measures do not depend on it."""

    AUTO = "auto"  #: fast where that works here, else fresh
    FAST = "fast"  #: a fork of a process that has imported TensorFlow, in a sandbox of its own
    FRESH = "fresh"  #: a new interpreter in a sandbox of its own


class Starters:
    """Hands out what starts a worker for each version of Keras; a context that ends the processes behind it.

    Use it in a thread that outlives all workers.
    """

    def __init__(self, starts: Starts, *, sandboxed: bool, warn: Callable[[str], None]) -> None:
        self._starts, self._sandboxed, self._warn = starts, sandboxed, warn
        self._zygotes: dict[int, Zygote] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def prepare(self, versions: Iterable[int], staging: Staging, threads: int, gpu: Gpu | None) -> None:
        """Start what the versions of Keras need, and try it with a call whose value is known.

        Where fast starts do not work, `auto` warns and goes on with fresh ones; `fast` raises `UserError`.
        """
        if not self._sandboxed or self._starts is Starts.FRESH:
            return
        jobs = {
            keras: trial_job(staging, CONTROL, keras=keras, threads=threads, gpu=gpu) for keras in sorted(set(versions))
        }
        try:
            self._zygotes = {keras: Zygote(job) for keras, job in jobs.items()}
            for keras, zygote in self._zygotes.items():
                zygote.wait_until_ready()
                result = run_trial(zygote.start, jobs[keras], 0, CONTROL.time_limit_s)
                if not CONTROL.caught(result):
                    raise StartError(f"{result.outcome} {result.message or result.value}")
        except StartError as error:
            reason = f"fast starts do not work here: {error}"
            if self._starts is Starts.FAST:
                raise UserError(reason, remedy="use --sandbox fresh") from error
            self._warn(f"{reason}; every call starts a new interpreter")
            self._close()

    def starter(self, keras: int) -> Starter:
        """What starts a worker with this version of Keras."""
        if not self._sandboxed:
            return start_plain
        return self._zygotes[keras].start if keras in self._zygotes else start_fresh

    def _close(self) -> None:
        for zygote in self._zygotes.values():
            zygote.close()
        self._zygotes = {}

    @property
    def sandbox(self) -> str:
        """How a record names the isolation of its call."""
        if not self._sandboxed:
            return "none"
        return "bubblewrap/fast" if self._zygotes else "bubblewrap/fresh"
