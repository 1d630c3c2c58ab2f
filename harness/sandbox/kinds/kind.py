"""The interface of a kind of sandbox, such as `fresh` or `docker`."""

import platform
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar, Self

from harness.errors import UserError, Warn
from harness.extras import install
from harness.gpus import Gpu
from harness.outcome import CallResult
from harness.registry import Parameter
from harness.sandbox.job import Job, Limits
from harness.sandbox.running_sandbox import RunningSandbox
from harness.sandbox.selftest import CONTROL, Trap, run_traps, run_trial, trial_job
from harness.sandbox.staging import Staging
from harness.worker.runtimes import RUNTIMES, version_of

#: Time limit of `run_trial`, in seconds.
TRIAL_S = 60.0


class Kind(ABC):
    """Starts sandboxes of one kind, such as containers; leaving its context ends its helper processes.

    Subclasses in modules of this package are registered by their `name`. The thread that enters the context must
    outlive all workers.
    """

    name: ClassVar[str]  #: `--sandbox NAME`
    summary: ClassVar[str]  #: one phrase for `--help`
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    is_sandbox: ClassVar[bool] = True  #: whether submissions are isolated from this machine
    needs_linux: ClassVar[bool] = True  #: whether the kind works only on Linux
    #: Promises of bubblewrap's sandbox that this kind does not keep.
    missing: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def isolation(self) -> str:
        """The name of the isolation in a configuration, equal for kinds of sandbox that start workers differently."""

    @property
    def name_in_records(self) -> str:
        """The sandbox's name in records: the isolation, and the kind's name if several kinds share the isolation."""
        return self.isolation

    @classmethod
    def for_auto(cls, warn: Warn) -> Self:  # noqa: ARG003 - for kinds with a fallback
        """Return this kind of sandbox for `--sandbox auto`. If it has a fallback, it warns instead of failing."""
        return cls()

    @abstractmethod
    def problem(self) -> UserError | None:
        """Return why this kind of sandbox does not work here, with a remedy; None if a trial succeeds."""

    def trials(
        self, staging: Staging, runtimes: Iterable[str], *, threads: int = 1, gpu: Gpu | None = None
    ) -> list[Job]:
        """Return a job for a test call of known value in each runtime, for `expect` and `prepare`."""
        return [trial_job(staging, CONTROL, runtime=runtime, threads=threads, gpu=gpu) for runtime in runtimes]

    def run_trial(self, trial: Job) -> CallResult:
        """Make a test call, and return its result. `prepare` must have been called for its runtime."""
        return run_trial(self.start, trial, 0, TRIAL_S)

    def run_traps(self, staging: Staging, workers: int, runtime: str) -> Iterator[tuple[Trap, CallResult]]:
        """Run all test submissions in a prepared runtime, `workers` at a time. Yield the submissions with results."""
        return run_traps(self.start, staging, workers, runtime)

    def expect(self, trials: Sequence[Job]) -> None:  # noqa: B027 - optional
        """Begin the slow part of `prepare` for the same jobs in the background, and leave errors to `prepare`."""

    @abstractmethod
    def prepare(self, trials: Sequence[Job]) -> None:
        """Get ready for calls in the runtimes of `trials`. Raise `UserError` if this kind of sandbox does not work."""

    @abstractmethod
    def start(self, job: Job, limits: Limits, slot: int, control: int, sink: int) -> RunningSandbox:
        """Return a new sandbox with a worker. Raise `StartError` if it does not start.

        Args:
            job: the inputs of the call.
            limits: the limits of the call.
            slot: number of the worker among the workers that exist at the same time.
            control: descriptor of the worker's end of the control channel.
            sink: descriptor of the worker's output.
        """

    def close(self) -> None:  # noqa: B027 - optional
        """End the processes that `prepare` started."""

    def versions(self, runtime: str) -> str:
        """Return the versions of the libraries that calls in a runtime use. Raise `UserError` if they are missing."""
        return library_versions(runtime)

    def shown(self) -> frozenset[Path]:
        """Return the directories of this machine that every worker can read besides its job's, with links resolved."""
        return frozenset()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


#: Libraries for measures, in addition to the framework and Keras.
LIBRARIES = ("numpy", "scipy", "scikit-learn")


@cache
def library_versions(runtime: str) -> str:
    """Return the versions of Python and a runtime's libraries. Raise `UserError` if they are not installed."""
    chosen = RUNTIMES[runtime]
    if missing := chosen.missing():
        raise UserError(f"runtime {runtime}: not installed: {', '.join(missing)}", remedy=install(chosen.extra))
    found = [f"python {platform.python_version()}"]
    for name in (*chosen.distributions, *LIBRARIES):
        version = version_of(name)
        found.append(f"{name} {version}" if version else f"no {name}")
    return ", ".join(found)
