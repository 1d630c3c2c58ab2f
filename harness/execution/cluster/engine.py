"""What a cluster's engine does for the harness: it starts processes on machines, and carries questions and bytes."""

from collections.abc import Collection, Sequence
from typing import Any, Protocol


class UnavailableError(Exception):
    """The process does not answer; it may be starting again."""


class GoneError(Exception):
    """The process has ended for good."""


class Engine(Protocol):
    """An engine; handles and futures are its own objects."""

    def nodes(self) -> dict[str, str]:
        """Return the machines that can make calls: identifiers and names."""

    def start(self, node: str) -> Any:
        """Start a `Machine` on a machine, to which nobody else gives work; returns its handle."""

    def ask(self, handle: Any, method: str, *arguments: object) -> Any:
        """Call a method of a `Machine`; returns a future at once."""

    def ready(self, futures: Sequence[Any], timeout_s: float) -> Collection[Any]:
        """Wait for at least one of the futures; returns those that have come."""

    def result(self, future: Any) -> Any:
        """Return what a method has returned; raises `UnavailableError`, `GoneError`, or what it has raised."""

    def put(self, content: Sequence[Any]) -> Any:
        """Keep bytes for machines as long as the reference exists that is returned; raises `UserError`."""

    def kill(self, handle: Any) -> None:
        """Kill a process and all that it has started; it does not start again."""

    def close(self) -> None:
        """Leave the cluster, which ends all processes."""
