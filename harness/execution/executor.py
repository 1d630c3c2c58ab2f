"""The interface of an engine that runs calls."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

from harness.outcome import CallResult
from harness.sandbox import Kind, Limits

if TYPE_CHECKING:
    from harness.execution.plan import PlannedCall


@dataclass(frozen=True)
class Done:
    """A finished call, with the machine and the sandbox in which it ran."""

    planned: "PlannedCall"
    result: CallResult
    started_at: datetime
    machine: dict[str, str]  #: description of the machine for the record
    sandbox: str  #: name of the sandbox for the record


class Executor(ABC):
    """Runs planned calls; leaving its context kills those that still run.

    Subclasses in modules of `harness.execution.executors` are registered by their `name`. The arguments are a kind of
    sandbox, the limits of a call, and the number of concurrent calls (None: as many as fit).
    """

    name: ClassVar[str]

    @abstractmethod
    def __init__(self, kind: Kind, limits: Limits, workers: int | None) -> None: ...

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

    @abstractmethod
    def versions(self, runtime: str) -> str:
        """Return the versions of the libraries available to calls in the runtime of that name.

        Raises `UserError` if the runtime is not installed.
        """

    @abstractmethod
    def require_unseen(self, paths: Iterable[Path]) -> None:
        """Raise `UserError` if a submission could read one of `paths` of this machine."""

    @abstractmethod
    def prepare(self, calls: "Sequence[PlannedCall]") -> None:
        """Prepare for calls ahead of `run`; raises `UserError` if they cannot be made."""

    @abstractmethod
    def run(self, calls: "Sequence[PlannedCall]") -> Generator[Done]:
        """Make calls; yields each as it ends, in any order. Closing the iterator kills the rest."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
