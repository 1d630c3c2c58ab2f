"""The interface of an engine that runs calls."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Self

from harness.errors import UserError, Warn
from harness.execution.order import FinishedCall, Inputs, Order
from harness.registry import Parameter
from harness.sandbox import Limits, SandboxChoice


class Executor(ABC):
    """Makes the calls of orders; leaving its context kills running calls.

    Subclasses in modules of `harness.execution.executors` are registered by their `name`. All methods are called by one
    thread. `harness.testing` has the tests that every executor must pass.
    """

    name: ClassVar[str]  #: `--executor NAME`
    summary: ClassVar[str]  #: one phrase for `--help`
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    @abstractmethod
    def __init__(
        self,
        sandbox: SandboxChoice,
        memory_bytes: int | None,
        workers: int | None,
        warn: Warn,
        **parameters: str | None,
    ) -> None:
        """Choose a sandbox that works; nothing is started yet.

        Args:
            sandbox: the requested kind.
            memory_bytes: memory limit of a call; None: the default where the calls are made.
            workers: number of concurrent calls on a machine; None: as many as fit.
            warn: receives a line about each missing capability.
            parameters: the values of the class' own `parameters`.

        Raises:
            UserError: no sandbox works, or the limits do not fit the machine.
        """

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """The limits of a call."""

    @property
    @abstractmethod
    def isolation(self) -> str:
        """Name of the calls' isolation in a configuration."""

    @property
    @abstractmethod
    def is_sandboxed(self) -> bool:
        """Whether submissions are isolated from the machine that they run on."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of concurrent calls."""

    @property
    @abstractmethod
    def shown(self) -> frozenset[Path]:
        """Directories that every sandbox shows, besides the call's own; links resolved."""

    @abstractmethod
    def versions(self, runtime: str) -> str:
        """Return the versions of the libraries available to calls in the runtime of that name.

        Raises `UserError` if the runtime is not installed.
        """

    def expect(self, runtimes: Collection[str]) -> None:  # noqa: B027 - most have nothing to begin
        """Begin the long work of `prepare` for these runtimes; does not wait, and raises nothing."""

    @abstractmethod
    def prepare(self, runtimes: Collection[str]) -> None:
        """Get ready for calls in these runtimes, and try the sandbox; raises `UserError` if they cannot be made."""

    @abstractmethod
    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        """Queue orders, which are carried out roughly in sequence; does not wait."""

    @abstractmethod
    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        """Return the next finished call; None if no call ends within `timeout_s`.

        Raises `UserError` if no further call can be made, after it has returned all finished calls.
        """

    @property
    @abstractmethod
    def wanted(self) -> int:
        """Number of sandboxes that need more orders now, so that no sandbox is idle."""

    def require_unseen(self, paths: Iterable[Path]) -> None:
        """Raise `UserError` if a submission could read one of `paths` of this machine."""
        for path in paths:
            inside = next((directory for directory in self.shown if path.resolve().is_relative_to(directory)), None)
            if inside is not None:
                message = f"submissions could read it: every sandbox shows {inside}"
                raise UserError(message, file=path, remedy="move it to a directory outside")

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *exception: object) -> None: ...
