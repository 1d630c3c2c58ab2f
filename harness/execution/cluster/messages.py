"""The messages between the planning process and the machines of a cluster, and the interface of an engine like Ray."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from harness.execution.order import FinishedCall, Order

#: Beginning of the text that stands for the versions of a runtime that is not installed.
NOT_INSTALLED = "not installed: "


def is_installed(versions: str) -> bool:
    """Return whether a text lists versions; otherwise, it says why a runtime is missing."""
    return not versions.startswith(NOT_INSTALLED)


InputKind = Literal["submission", "model", "data"]


class OrderNeed(NamedTuple):
    """An input of a call that a machine may lack."""

    kind: InputKind
    digest: str


def needs_of(order: Order) -> tuple[OrderNeed, ...]:
    """Return the three inputs of an order's call: submission, data and model."""
    return OrderNeed("submission", order.submission), OrderNeed("data", order.data), OrderNeed("model", order.model)


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a model or of training data, on their way to a machine."""

    digests: Mapping[str, str]  #: SHA-256 (hex) of every file, by name
    content: Any  #: the engine's reference to the bytes of the files, in the sequence of `digests`


#: Input -> the files of a submission by path, or the bundle of a model or of data.
Supplies = Mapping[OrderNeed, Mapping[str, bytes] | Bundle]


@dataclass(frozen=True)
class MachineDescription:
    """The properties by which the planning process decides whether a machine may make calls."""

    machine_class: str  #: processors and GPUs
    harness: str  #: version of the harness
    loaders: Mapping[str, str]  #: by runtime: digest of the code that loads models and calls measures
    installed: Mapping[str, str]  #: name -> digest of each installed measure of another package
    default_memory_bytes: int  #: default memory limit of a call


@dataclass(frozen=True)
class ReadyMachine:
    """The properties of a machine that has chosen a sandbox."""

    incarnation: str  #: random text, drawn anew when the process starts again
    workers: int  #: number of concurrent calls
    processes: int  #: maximum number of processes of a call
    isolation: str  #: isolation of calls, as a configuration names it
    is_sandboxed: bool  #: whether calls are isolated
    shown: frozenset[str]  #: directories that every sandbox shows
    versions: Mapping[str, str]  #: by runtime: versions of libraries, or why the runtime is not installed
    lacks: tuple[str, ...]  #: warnings about features that do not work on the machine
    cache: str  #: directory of models and data on the machine, and its size


@dataclass(frozen=True)
class MachineReport:
    """The events on a machine since its previous report."""

    incarnation: str  #: as in `ReadyMachine`; the driver ignores reports of another process
    returned: tuple[FinishedCall[int], ...] = ()  #: the calls that have ended
    begun: frozenset[int] = frozenset()  #: numbers of the orders whose calls are being made
    needs: tuple[OrderNeed, ...] = ()  #: the inputs that orders wait for
    retired: str = ""  #: why the machine makes no further calls; empty if it does


class UnavailableError(Exception):
    """The process of a machine does not answer, but may be starting again."""


class GoneError(Exception):
    """The process of a machine has ended for good."""


class Engine(Protocol):
    """Connects the planning process with machines. Handles, futures and references are objects of the engine."""

    def nodes(self) -> dict[str, str]:
        """Return identifier -> name of the machines that can make calls."""

    def start(self, node: str) -> Any:
        """Start a `Machine` on a node that no other program of the engine uses. Return the handle of the `Machine`."""

    def ask(self, handle: Any, method: str, *arguments: object) -> Any:
        """Call a method of a `Machine`, and return the future of its result without waiting."""

    def ready(self, futures: Sequence[Any], timeout_s: float) -> Collection[Any]:
        """Wait up to `timeout_s` seconds for at least one future, and return the complete futures."""

    def result(self, future: Any) -> Any:
        """Return the result of a method. Raise `UnavailableError`, `GoneError`, or the error of the method."""

    def put(self, content: Sequence[Any]) -> Any:
        """Keep bytes for machines while the returned reference exists. Raise `UserError` if there is no room."""

    def kill(self, handle: Any) -> None:
        """Kill a `Machine` and its descendants for good."""

    def close(self) -> None:
        """Disconnect from the cluster, and so end all processes that this engine has started."""
