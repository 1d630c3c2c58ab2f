"""The interface of an executor: an engine that makes calls, on this machine or on others."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Self

from harness.errors import UserError, Warn
from harness.execution.order import FinishedCall, Inputs, Order
from harness.reading import real_path
from harness.registry import Parameter
from harness.sandbox import Limits, SandboxChoice


class Executor(ABC):
    """Makes calls; leaving its context kills running calls.

    Subclasses in modules of `harness.execution.executors` are registered by their `name`. A single thread calls all
    methods. `harness.testing` has the tests that every executor must pass.
    """

    name: ClassVar[str]  #: `--executor NAME`
    summary: ClassVar[str]  #: short description for `--help`
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    limits: Limits  #: limits of a call
    isolation: str  #: isolation of calls, as a configuration names it
    is_sandboxed: bool  #: whether submissions are isolated from the machines on which they run
    shown: frozenset[Path]  #: resolved paths of directories that every sandbox shows, besides those of its call

    @abstractmethod
    def __init__(
        self,
        sandbox: SandboxChoice,
        memory_bytes: int | None,
        workers: int | None,
        warn: Warn,
        **parameters: str | None,
    ) -> None:
        """Choose a kind of sandbox that works, and set the attributes.

        Args:
            sandbox: the requested kind of sandbox.
            memory_bytes: memory limit of a call; None: the default of the machines.
            workers: number of concurrent calls on a machine; None: as many as fit.
            warn: receives a line about each feature that does not work.
            parameters: the values of the class' own `parameters`.

        Raises:
            UserError: no sandbox works, or the limits do not fit the machine.
        """

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of concurrent calls; it changes with the number of machines."""

    @abstractmethod
    def versions(self, runtime: str) -> str:
        """Return the versions of a runtime's libraries as text. Raise `UserError` if a library is not installed."""

    def expect(self, runtimes: Collection[str]) -> None:  # noqa: B027 - optional
        """Begin the slow part of `prepare` in the background. Errors in this part are raised later, by `prepare`."""

    @abstractmethod
    def prepare(self, runtimes: Collection[str]) -> None:
        """Try the sandbox in these runtimes, and get ready for calls. Raise `UserError` if that fails."""

    @abstractmethod
    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        """Queue calls and return at once. The calls are made roughly in the sequence of `orders`."""

    @abstractmethod
    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        """Return the next finished call; None if no call ends within `timeout_s` seconds.

        Raise `UserError` if no further call can be made, but only after all finished calls have been returned.
        """

    @property
    @abstractmethod
    def wanted(self) -> int:
        """Number of batches to add so that all sandboxes stay busy; 0 if enough batches wait."""

    def require_unseen(self, paths: Iterable[Path]) -> None:
        """Raise `UserError` if a path is in one of the directories `shown`, which submissions can read."""
        for path in paths:
            real = real_path(path)
            inside = next((directory for directory in self.shown if real.is_relative_to(directory)), None)
            if inside is not None:
                message = f"submissions could read it: every sandbox shows {inside}"
                raise UserError(message, file=path, remedy="move it to a directory outside")

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *exception: object) -> None: ...
