"""A stub of a cluster whose calls take no time, so that only the driver's work is measured."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import harness
from harness.execution.cluster.agreement import installed_digests, loader_digests
from harness.execution.cluster.executor import Cluster
from harness.execution.cluster.messages import MachineDescription, MachineReport, ReadyMachine
from harness.execution.order import FinishedCall, Order
from harness.outcome import CallResult, Outcome
from harness.worker.runtimes import RUNTIMES


class Answer(NamedTuple):
    """A reply of a machine that is ready immediately."""

    content: Any


class Engine:
    """An engine whose machines finish every call immediately."""

    def __init__(self, machines: int, lanes: int) -> None:
        self._names, self._lanes = [f"machine{number}" for number in range(machines)], lanes

    def nodes(self) -> dict[str, str]:
        return {name: name for name in self._names}

    def start(self, node: str) -> list[Order]:
        return []

    def ask(self, handle: list[Order], method: str, *arguments: Any) -> Answer:
        return Answer(getattr(self, f"_{method}")(handle, *arguments))

    def ready(self, futures: Sequence[Answer], timeout_s: float) -> Collection[Answer]:
        return futures

    def result(self, future: Answer) -> Any:
        return future.content

    def put(self, content: Sequence[Any]) -> Sequence[Any]:
        return content

    def kill(self, handle: list[Order]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def _describe(self, orders: list[Order]) -> MachineDescription:
        return MachineDescription("stub", harness.__version__, loader_digests(), installed_digests(), 2**32)

    def _begin(self, orders: list[Order], *_: Any) -> ReadyMachine:
        versions = dict.fromkeys(RUNTIMES, "keras 3")
        return ReadyMachine("here", self._lanes, 64, "bubblewrap", True, frozenset(), versions, (), "")

    def _prepare(self, orders: list[Order], *_: Any) -> str:
        return ""

    def _exchange(self, orders: list[Order], incarnation: str, more: Sequence[Order], *_: Any) -> MachineReport:
        orders += more
        done = [orders.pop(0) for _ in orders[: self._lanes]]
        return MachineReport(
            incarnation, tuple(map(_made, done)), frozenset(order.number for order in orders[: self._lanes])
        )

    def _end(self, orders: list[Order]) -> None:
        orders.clear()


class Stub(Cluster):
    """A cluster whose machines finish each call immediately."""

    name, summary = "stub", "nowhere"
    engine: Engine

    def connect(self, **parameters: str | None) -> Engine:
        return self.engine


def _made(order: Order) -> FinishedCall[int]:
    result = CallResult(Outcome.OK, float(order.number), call_wall_s=1.0, environment={"keras": "3"})
    return FinishedCall(order.number, result, datetime.now(UTC), {"kernel": "stub", "threads": "1"}, "bubblewrap")
