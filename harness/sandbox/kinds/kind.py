"""What the harness asks of a kind of sandbox."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from harness.errors import UserError
from harness.sandbox.body import Body
from harness.sandbox.job import Job
from harness.sandbox.limits import Limits
from harness.sandbox.versions import library_versions

#: Is told, in a line, what does not work here as well as it could.
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kind's constructor; on the command line it is the option `--KIND-NAME`."""

    name: str
    metavar: str
    meaning: str
    default: str | None = None


class Kind(ABC):
    """A kind of sandbox; a context that ends the processes behind it.

    A subclass in a module of this package is found by its name. Enter it in a thread that outlives all workers.
    """

    name: ClassVar[str]  #: `--sandbox NAME`
    summary: ClassVar[str]  #: one phrase for `--help`
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    is_sandbox: ClassVar[bool] = True  #: whether submissions are kept from this machine at all
    #: What bubblewrap's sandbox promises and this one does not.
    missing: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def isolation(self) -> str:
        """How a configuration names it; kinds that differ in how they start only have one name."""

    @property
    def recorded(self) -> str:
        """How a record names it."""
        return self.isolation

    @abstractmethod
    def problem(self) -> UserError | None:
        """Why it does not work here and what mends that, None if it does: found out by trying."""

    def require(self) -> None:
        """Raise what `problem` finds."""
        if (problem := self.problem()) is not None:
            raise problem

    @abstractmethod
    def prepare(self, trials: Iterable[Job]) -> None:
        """Get ready for jobs like `trials`, each a call of known value with a new version of Keras.

        Raises `UserError` where it does not work after all.
        """

    @abstractmethod
    def start(self, job: Job, limits: Limits, slot: int, control: int, sink: int) -> Body:
        """Start a worker; `control` and `sink` are its ends of the control channel and of the output.

        `slot` numbers the workers that exist at once. Raises `StartError`.
        """

    @abstractmethod
    def close(self) -> None:
        """End what `prepare` started."""

    def versions(self, keras: int) -> str:
        """Versions of the libraries that calls find, with that version of Keras."""
        return library_versions(keras)

    def shown(self) -> frozenset[Path]:
        """Directories of this machine that every worker can read, beside the job's own; links resolved."""
        return frozenset()

    def require_unseen(self, paths: Iterable[Path]) -> None:
        """Raise `UserError` if a worker could read one of `paths`."""
        shown = self.shown()
        for path in paths:
            inside = next((directory for directory in shown if path.resolve().is_relative_to(directory)), None)
            if inside is not None:
                message = f"submissions could read it: every sandbox shows {inside}"
                raise UserError(message, file=path, remedy="move it to a place outside")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
