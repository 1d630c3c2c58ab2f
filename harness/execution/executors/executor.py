"""What the harness asks of an engine that runs calls."""

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
    """A call that is over, and where it was made."""

    planned: "PlannedCall"
    result: CallResult
    started_at: datetime
    machine: dict[str, str]  #: what a record keeps of the machine
    sandbox: str  #: how a record names the sandbox


class Executor(ABC):
    """Runs planned calls; a context whose end kills what still runs.

    A subclass in a module of this package is found by its name. It is made of a kind of sandbox, the limits of a call,
    and the number of calls at once (None: as many as fit).
    """

    name: ClassVar[str]

    @abstractmethod
    def __init__(self, kind: Kind, limits: Limits, workers: int | None) -> None: ...

    @property
    @abstractmethod
    def isolation(self) -> str:
        """How a configuration names the isolation of calls."""

    @property
    @abstractmethod
    def is_sandboxed(self) -> bool:
        """Whether submissions are kept from the machine that they run on."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many calls run at once."""

    @abstractmethod
    def versions(self, keras: int) -> str:
        """Versions of the libraries that calls find, with that version of Keras."""

    @abstractmethod
    def require_unseen(self, paths: Iterable[Path]) -> None:
        """Raise `UserError` if a submission could read one of `paths`, files of this machine."""

    @abstractmethod
    def prepare(self, calls: "Sequence[PlannedCall]") -> None:
        """Get ready for calls, so that `run` need not; raises `UserError` where they cannot be made."""

    @abstractmethod
    def run(self, calls: "Sequence[PlannedCall]") -> Generator[Done]:
        """Make calls; yields each as it ends, in whatever order that is. Closing the iterator kills the rest."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
