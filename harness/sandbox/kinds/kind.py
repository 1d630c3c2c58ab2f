"""The interface of a kind of sandbox, such as `fresh` or `docker`."""

import platform
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar, Self

from harness.errors import UserError
from harness.extras import install
from harness.gpus import Gpu
from harness.outcome import CallResult
from harness.registry import Parameter
from harness.sandbox.job import Job, Launch
from harness.sandbox.running_sandbox import RunningSandbox
from harness.sandbox.selftest import CONTROL, Trap, run_traps, run_trial, trial_job
from harness.sandbox.staging import Staging
from harness.worker.runtimes import RUNTIMES, version_of

#: Time limit of `run_trial`, in seconds.
TRIAL_S = 60.0


class Kind(ABC):
    """Starts sandboxes of one kind, such as containers. As a context manager, it ends its helper processes on exit.

    Subclasses in this package are registered by their `name`. The thread that enters the context must not end before
    the workers.
    """

    name: ClassVar[str]  #: `--sandbox NAME`
    summary: ClassVar[str]  #: short description for `--help`
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    is_sandbox: ClassVar[bool] = True  #: whether submissions are isolated from this machine
    needs_linux: ClassVar[bool] = True  #: whether the kind works only on Linux
    #: Promises of bubblewrap's sandbox that this kind does not keep, for messages.
    missing: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def isolation(self) -> str:
        """Name of the isolation in configurations; equal for kinds that differ only in how workers start."""

    @property
    def name_in_records(self) -> str:
        """Name of the sandbox in records: the isolation, plus the kind's name if several kinds have this isolation."""
        return self.isolation

    @abstractmethod
    def problem(self) -> UserError | None:
        """Return why this kind does not work on this machine, with a remedy; None if a trial succeeds."""

    def trials(
        self, staging: Staging, runtimes: Iterable[str], *, threads: int = 1, gpu: Gpu | None = None
    ) -> list[Job]:
        """Return a test job for each runtime, for `expect` and `prepare`. The job's measure returns a known value."""
        return [trial_job(staging, CONTROL, runtime=runtime, threads=threads, gpu=gpu) for runtime in runtimes]

    def run_trial(self, trial: Job) -> CallResult:
        """Make a test call, and return its result. `prepare` must have been called for the runtime before."""
        return run_trial(self.start, trial, 0, TRIAL_S)

    def run_traps(self, staging: Staging, workers: int, runtime: str) -> Iterator[tuple[Trap, CallResult]]:
        """Run the test submissions, `workers` at a time, and yield results. `prepare` must have been called before."""
        return run_traps(self.start, staging, workers, runtime)

    def expect(self, trials: Sequence[Job]) -> None:  # noqa: B027 - optional
        """Begin the slow part of `prepare` in the background. Errors in this part are raised later, by `prepare`."""

    @abstractmethod
    def prepare(self, trials: Sequence[Job]) -> None:
        """Get ready for calls in the runtimes of `trials`. Raise `UserError` if a sandbox does not work."""

    @abstractmethod
    def start(self, launch: Launch) -> RunningSandbox:
        """Return a new sandbox with a worker. Raise `StartError` if it does not start."""

    def close(self) -> None:  # noqa: B027 - optional
        """End the processes that `prepare` started."""

    def versions(self, runtime: str) -> str:
        """Return the versions of a runtime's libraries as text. Raise `UserError` if a library is not installed."""
        return library_versions(runtime)

    def shown(self) -> frozenset[Path]:
        """Return the directories that every worker can read besides its job's directories, with links resolved."""
        return frozenset()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


#: Libraries for measures, in addition to the framework and Keras.
LIBRARIES = ("numpy", "scipy", "scikit-learn")


@cache
def library_versions(runtime: str) -> str:
    """Return the versions of Python and a runtime's libraries. Raise `UserError` if a library is not installed."""
    chosen = RUNTIMES[runtime]
    if missing := chosen.missing():
        raise UserError(f"runtime {runtime}: not installed: {', '.join(missing)}", remedy=install(chosen.extra))
    found = [f"python {platform.python_version()}"]
    for name in (*chosen.distributions, *LIBRARIES):
        version = version_of(name)
        found.append(f"{name} {version}" if version else f"no {name}")
    return ", ".join(found)
