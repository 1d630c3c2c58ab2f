"""The interface of a kind of sandbox."""

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

#: The option for the kind, and the value that leaves the choice to `choose_kind`.
SANDBOX, AUTO = "--sandbox", "auto"

#: Time limit of a trial, in seconds.
TRIAL_S = 60.0


class Kind(ABC):
    """A kind of sandbox; leaving its context ends its helper processes.

    Subclasses in modules of this package are registered by their `name`. The thread that enters the context must
    outlive all workers.
    """

    name: ClassVar[str]  #: `--sandbox NAME`
    summary: ClassVar[str]  #: one phrase for `--help`
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    auto: ClassVar[int | None] = None  #: rank among the kinds that `auto` tries, the smallest first; None: not tried
    is_sandbox: ClassVar[bool] = True  #: whether submissions are isolated from this machine
    needs_linux: ClassVar[bool] = True  #: whether it works only on Linux
    #: Promises of bubblewrap's sandbox that this kind does not keep.
    missing: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def isolation(self) -> str:
        """The name in a configuration, shared by kinds that differ only in the start of workers."""

    @property
    def name_in_records(self) -> str:
        """The isolation, followed by the kind's name if several kinds share the isolation."""
        return self.isolation

    @classmethod
    def for_auto(cls, warn: Warn) -> Self:  # noqa: ARG003 - for kinds that do with less than they should
        """Return the kind in the form that `auto` uses."""
        return cls()

    @classmethod
    def options(cls, isolation: str) -> dict[str, str | None] | None:
        """Return the options that request `isolation`, with their values; None for another kind's isolation.

        A flag has the value None; an option with an empty value is left out.
        """
        return {SANDBOX: cls.name} if isolation.partition("/")[0] == cls.name else None

    @abstractmethod
    def problem(self) -> UserError | None:
        """Return why the kind does not work here, with a remedy; None if a trial succeeds."""

    def require(self) -> None:
        """Raise the error that `problem` returns, if any."""
        if (problem := self.problem()) is not None:
            raise problem

    def trials(
        self, staging: Staging, runtimes: Iterable[str], *, threads: int = 1, gpu: Gpu | None = None
    ) -> list[Job]:
        """Stage the arguments of `expect` and `prepare`: for each runtime a call of known value."""
        return [trial_job(staging, CONTROL, runtime=runtime, threads=threads, gpu=gpu) for runtime in runtimes]

    def run_trial(self, trial: Job) -> CallResult:
        """Make the call of a trial after `prepare`, and return its result."""
        return run_trial(self.start, trial, 0, TRIAL_S)

    def run_traps(self, staging: Staging, workers: int, runtime: str) -> Iterator[tuple[Trap, CallResult]]:
        """Make calls that try to exceed limits, `workers` at a time, after `prepare` for the runtime.

        Yield each trap, which knows whether it `caught` the call, with the result.
        """
        return run_traps(self.start, staging, workers, runtime)

    def expect(self, trials: Sequence[Job]) -> None:  # noqa: B027 - most have nothing to begin
        """Begin the long work of `prepare` for the same trials; does not wait, and raises nothing."""

    @abstractmethod
    def prepare(self, trials: Sequence[Job]) -> None:
        """Prepare for jobs like `trials`, each a call of known value in a new runtime.

        Raises `UserError` if the kind fails after all.
        """

    @abstractmethod
    def start(self, job: Job, limits: Limits, slot: int, control: int, sink: int) -> RunningSandbox:
        """Start a worker; `control` and `sink` are its ends of the control channel and of the output pipe.

        `slot` numbers the workers that exist at once. Raises `StartError`.
        """

    def close(self) -> None:  # noqa: B027 - optional
        """End the processes that `prepare` started."""

    def versions(self, runtime: str) -> str:
        """Return the versions of the libraries available to calls in the runtime of that name.

        Raises `UserError` if the runtime is not installed.
        """
        return library_versions(runtime)

    def shown(self) -> frozenset[Path]:
        """Return the directories of this machine that every worker can read, besides the job's; links resolved."""
        return frozenset()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


#: Libraries that measures compute with, in addition to the framework and Keras.
LIBRARIES = ("numpy", "scipy", "scikit-learn")


@cache
def library_versions(runtime: str) -> str:
    """Return the versions of Python and of the libraries available to calls, without importing them.

    Raises `UserError` if the runtime is not installed.
    """
    chosen = RUNTIMES[runtime]
    if missing := chosen.missing():
        raise UserError(f"runtime {runtime}: not installed: {', '.join(missing)}", remedy=install(chosen.extra))
    found = [f"python {platform.python_version()}"]
    for name in (*chosen.distributions, *LIBRARIES):
        version = version_of(name)
        found.append(f"{name} {version}" if version else f"no {name}")
    return ", ".join(found)
