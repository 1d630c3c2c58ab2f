"""The messages between driver and machines besides orders, which are data alone, and the engine's interface."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from harness.execution.order import FinishedCall, Order

#: Beginning of the reason why a runtime has no versions.
NOT_INSTALLED = "not installed: "


def is_installed(versions: str) -> bool:
    """Whether `versions` are versions, and not the reason why a runtime is missing."""
    return not versions.startswith(NOT_INSTALLED)


Kind = Literal["submission", "model", "data"]


class OrderNeed(NamedTuple):
    """An input that a machine lacks for its orders."""

    kind: Kind
    digest: str


def needs_of(order: Order) -> tuple[OrderNeed, ...]:
    """Return the inputs that the call of an order needs."""
    return OrderNeed("submission", order.submission), OrderNeed("data", order.data), OrderNeed("model", order.model)


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a model or of training data."""

    digests: Mapping[str, str]  #: SHA-256 (hex) of every file, by name
    content: Any  #: the engine's reference to the bytes of the files, in this order


#: Answers to needs: the files of a submission, or a bundle.
Supplies = Mapping[OrderNeed, Mapping[str, bytes] | Bundle]


@dataclass(frozen=True)
class MachineDescription:
    """The description of a machine before it makes calls."""

    machine_class: str  #: processors and GPUs
    harness: str  #: version of the harness
    loaders: Mapping[str, str]  #: digest of the code that loads and calls, by runtime
    installed: Mapping[str, str]  #: digest of each measure of another package that is installed
    default_memory_bytes: int  #: per call


@dataclass(frozen=True)
class ReadyMachine:
    """A machine that makes calls."""

    incarnation: str  #: random, drawn when the machine's process begins to make calls; a restarted process draws again
    workers: int  #: number of concurrent calls
    processes: int  #: limit of processes of a call there
    isolation: str  #: of calls, in a configuration
    is_sandboxed: bool  #: whether calls are isolated
    shown: frozenset[str]  #: directories that every sandbox shows
    versions: Mapping[str, str]  #: of the libraries, by runtime; the reason if a runtime is not installed
    lacks: tuple[str, ...]  #: lines about what the machine lacks
    cache: str  #: directory of models and data on the machine, and its size


@dataclass(frozen=True)
class MachineReport:
    """The events on a machine since the last report."""

    incarnation: str  #: of the machine's process; the driver ignores reports of an unknown incarnation
    returned: tuple[FinishedCall[int], ...] = ()  #: the results of orders
    begun: frozenset[int] = frozenset()  #: numbers of the orders that are being made
    needs: tuple[OrderNeed, ...] = ()  #: the inputs that waiting orders need
    retired: str = ""  #: reason why the machine makes no further calls; empty as long as it makes calls


class UnavailableError(Exception):
    """The process does not answer; it may be starting again."""


class GoneError(Exception):
    """The process has ended for good."""


class Engine(Protocol):
    """An engine; handles and futures are its own objects."""

    def nodes(self) -> dict[str, str]:
        """Return the machines that can make calls: identifiers and names."""

    def start(self, node: str) -> Any:
        """Start a `Machine` on a machine that no other program of the engine uses; returns its handle."""

    def ask(self, handle: Any, method: str, *arguments: object) -> Any:
        """Call a method of a `Machine`; returns a future at once."""

    def ready(self, futures: Sequence[Any], timeout_s: float) -> Collection[Any]:
        """Wait for at least one of the futures; returns the complete ones."""

    def result(self, future: Any) -> Any:
        """Return the result of a method; raises `UnavailableError`, `GoneError`, or the method's own error."""

    def put(self, content: Sequence[Any]) -> Any:
        """Keep bytes for machines as long as the returned reference exists; raises `UserError`."""

    def kill(self, handle: Any) -> None:
        """Kill a process and its descendants; it does not start again."""

    def close(self) -> None:
        """Leave the cluster, which ends all processes."""
