"""The messages between the planning process and the machines of a cluster, and the interface of an engine."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from harness.execution.order import FinishedCall, Order

#: Beginning of the text that replaces the library versions of a runtime that is not installed.
NOT_INSTALLED = "not installed: "


def is_installed(versions: str) -> bool:
    """Return whether `versions` lists a runtime's versions; for a missing runtime, the text says why it is missing."""
    return not versions.startswith(NOT_INSTALLED)


InputKind = Literal["submission", "model", "data"]


class OrderNeed(NamedTuple):
    """An input of a call that a machine may lack."""

    kind: InputKind
    digest: str


def needs_of(order: Order) -> tuple[OrderNeed, ...]:
    """Return the three inputs of a call: submission, data and model."""
    return OrderNeed("submission", order.submission), OrderNeed("data", order.data), OrderNeed("model", order.model)


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a model or of training data, as sent to a machine."""

    digests: Mapping[str, str]  #: file name -> SHA-256 (hex)
    content: Any  #: the engine's reference to the bytes of the files, in the order of `digests`


#: Input of a call -> its content: the files of a submission by path, or the bundle of a model or of data.
Supplies = Mapping[OrderNeed, Mapping[str, bytes] | Bundle]


@dataclass(frozen=True)
class MachineDescription:
    """The properties by which the planning process decides whether a machine may make calls."""

    machine_class: str  #: processors and GPUs
    harness: str  #: version of the harness
    loaders: Mapping[str, str]  #: name of a runtime -> digest of the code that loads models and calls measures
    installed: Mapping[str, str]  #: name -> digest of each measure that another package installs
    default_memory_bytes: int  #: default memory limit of a call


@dataclass(frozen=True)
class ReadyMachine:
    """The properties of a machine that has chosen a sandbox."""

    incarnation: str  #: random text, new for each process on the machine
    workers: int  #: number of concurrent calls
    processes: int  #: maximum number of processes of a call
    isolation: str  #: isolation of calls, as a configuration names it
    is_sandboxed: bool  #: whether calls are isolated
    shown: frozenset[str]  #: directories that every sandbox shows
    versions: Mapping[str, str]  #: name of a runtime -> versions of its libraries, or why it is not installed
    lacks: tuple[str, ...]  #: warnings about features that do not work on the machine
    cache: str  #: directory and size of the cache of models and data


@dataclass(frozen=True)
class MachineReport:
    """The events on a machine since its previous report."""

    incarnation: str  #: as in `ReadyMachine`: tells which process of the machine reports
    returned: tuple[FinishedCall[int], ...] = ()  #: the calls that have ended
    begun: frozenset[int] = frozenset()  #: numbers of the orders whose calls are being made
    needs: tuple[OrderNeed, ...] = ()  #: the inputs that orders wait for
    retired: str = ""  #: why the machine makes no further calls; empty if it makes calls


class UnavailableError(Exception):
    """A machine's process does not answer, but may be starting."""


class GoneError(Exception):
    """A machine's process has ended, or could not start."""


class Engine(Protocol):
    """Connects the planning process with the machines. Each engine has its own handles, futures and references."""

    def nodes(self) -> dict[str, str]:
        """Return identifier -> name of each machine that can make calls."""

    def start(self, node: str) -> Any:
        """Start a `Machine` on a node, for this run alone, and return its handle."""

    def ask(self, handle: Any, method: str, *arguments: object) -> Any:
        """Begin to call a method of a `Machine`. Return the future of its result at once."""

    def ready(self, futures: Sequence[Any], timeout_s: float) -> Collection[Any]:
        """Wait up to `timeout_s` seconds until a future is complete. Return all complete futures."""

    def result(self, future: Any) -> Any:
        """Return the result of a method. Raise `UnavailableError`, `GoneError`, or the error that the method raised."""

    def put(self, content: Sequence[Any]) -> Any:
        """Store bytes for machines until the returned reference is deleted. Raise `UserError` if there is no room."""

    def kill(self, handle: Any) -> None:
        """Kill a `Machine` and all processes that it has started."""

    def close(self) -> None:
        """Disconnect from the cluster, and end all processes that this engine has started."""
