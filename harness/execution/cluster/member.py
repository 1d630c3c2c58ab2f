"""A machine of a cluster as the planning process sees it: its next step, a pending answer, unfinished calls."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

from harness.execution.batches import Batch
from harness.execution.cluster.messages import MachineDescription, MachineReport, OrderNeed, ReadyMachine
from harness.execution.order import FinishedCall, Order

#: Number of batches sent to a machine for each of its concurrent calls: a call that ends is followed at once.
DEPTH = 2

#: Steps of a machine until it makes calls. Each is the name of the method of `Machine` to call.
DESCRIBE, BEGIN, PREPARE, EXCHANGE = "describe", "begin", "prepare", "exchange"


@dataclass(eq=False)
class ClusterMember:
    """A machine of a cluster, the question that it has not answered yet, and its unfinished calls."""

    node: str
    name: str
    handle: Any
    step: str = DESCRIBE
    future: Any = None  #: the engine's object for an answer that has not arrived; None if no question is open
    asked_at: float = 0.0
    again_at: float = 0.0  #: time before which the machine must not be asked again
    why_out: str = ""  #: why the machine was dismissed; empty if it was not
    description: MachineDescription | None = None
    ready: ReadyMachine | None = None
    outbox: list[Order] = field(default_factory=list)
    needs: set[OrderNeed] = field(default_factory=set)
    held: set[str] = field(default_factory=set)  #: digests of models and data that the machine has
    batches: list[list[Order]] = field(default_factory=list)  #: orders that the machine has not finished
    begun_at: dict[int, float] = field(default_factory=dict)  #: number of an order -> time at which its call began
    #: number of a budget -> seconds of calls that have ended on the machine
    spent_s: dict[int, float] = field(default_factory=dict)

    @property
    def makes_calls(self) -> bool:
        """Whether the machine accepts calls, because it is prepared and not dismissed."""
        return self.step == EXCHANGE and not self.why_out

    @property
    def room(self) -> int:
        """Number of further batches that the machine can take."""
        if not self.makes_calls or self.ready is None:
            return 0
        return max(DEPTH * self.ready.workers - len(self.batches), 0)

    def give(self, batch: Batch) -> None:
        """Put a batch into the outbox, which is sent when the machine is next asked for results."""
        self.batches.append(list(batch))
        self.outbox += batch
        self.held |= {batch[0].model, batch[0].data}

    def take(self, report: MachineReport) -> list[FinishedCall[int]]:
        """Store a report. Return its finished calls, except calls that were given to other machines in the meantime."""
        now, known = time.monotonic(), {order.number: order for batch in self.batches for order in batch}
        returned = [one for one in report.returned if one.call in known]
        over = {one.call for one in returned}
        for one in returned:
            budget = known[one.call].allowance.budget
            if budget is not None:
                self.spent_s[budget] = self.spent_s.get(budget, 0.0) + one.result.call_wall_s
        remaining = ([order for order in batch if order.number not in over] for batch in self.batches)
        self.batches = [batch for batch in remaining if batch]
        self.begun_at = {number: self.begun_at.get(number, now) for number in report.begun - over}
        self.needs |= set(report.needs)
        return [replace(one, machine=one.machine | {"machine": self.name}) for one in returned]

    def lose(self) -> tuple[list[Batch], set[int], dict[int, float]]:
        """Take back unfinished orders, and return them in their batches.

        Also return the number of each order whose call has begun, and budget -> seconds that the machine has used.
        """
        now = time.monotonic()
        batches, begun, spent = [tuple(batch) for batch in self.batches], self.begun_at, dict(self.spent_s)
        for order in (order for batch in batches for order in batch if order.number in begun):
            budget = order.allowance.budget
            if budget is not None:
                spent[budget] = spent.get(budget, 0.0) + now - begun[order.number]
        self.step, self.future, self.ready = DESCRIBE, None, None
        self.batches, self.outbox, self.begun_at, self.spent_s = [], [], {}, {}
        self.needs, self.held = set(), set()
        mine = {order.number for batch in batches for order in batch}
        return batches, mine & begun.keys(), spent
