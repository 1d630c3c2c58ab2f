"""The driver's view of one machine of a cluster."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

from harness.execution.batches import Batch
from harness.execution.cluster.messages import MachineDescription, MachineReport, OrderNeed, ReadyMachine
from harness.execution.order import FinishedCall, Order

#: Batches under way for each lane at once: when a call ends, the next batch is already there.
DEPTH = 2

#: Steps of a machine before it makes calls, and the step of making calls; each is a method of `Machine`.
DESCRIBE, BEGIN, PREPARE, EXCHANGE = "describe", "begin", "prepare", "exchange"


@dataclass(eq=False)
class ClusterMember:
    """A machine, the last question to it, and the orders that are under way there."""

    node: str
    name: str
    handle: Any
    step: str = DESCRIBE
    future: Any = None  #: of the unanswered question
    asked_at: float = 0.0
    again_at: float = 0.0  #: earliest time of the next question, after a question was not answered
    why_out: str = ""  #: reason why it gets no calls: it differs, no sandbox works, or it cannot be trusted; else empty
    description: MachineDescription | None = None
    ready: ReadyMachine | None = None
    outbox: list[Order] = field(default_factory=list)
    needs: set[OrderNeed] = field(default_factory=set)
    held: set[str] = field(default_factory=set)  #: digests of models and data on the machine
    batches: list[list[Order]] = field(default_factory=list)  #: under way, without returned calls
    begun_at: dict[int, float] = field(default_factory=dict)  #: numbers of orders that are being made
    spent_s: dict[int, float] = field(default_factory=dict)  #: by budget, of calls that have ended here

    @property
    def makes_calls(self) -> bool:
        """Whether the machine accepts orders."""
        return self.step == EXCHANGE and not self.why_out

    @property
    def room(self) -> int:
        """Number of batches that the machine has room for."""
        if not self.makes_calls or self.ready is None:
            return 0
        return max(DEPTH * self.ready.workers - len(self.batches), 0)

    def give(self, batch: Batch) -> None:
        """Put orders into the outbox."""
        self.batches.append(list(batch))
        self.outbox += batch
        self.held |= {batch[0].model, batch[0].data}

    def take(self, report: MachineReport) -> list[FinishedCall[int]]:
        """Process a report; returns the finished calls of orders that are under way here."""
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
        """Forget the orders under way here, because the process has ended.

        Returns the batches, the numbers of the orders that had begun, and the seconds that were spent here, by budget.
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
