"""The common part of executors that make calls on a cluster; each subclass connects an engine such as Ray."""

import time
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness.errors import UserError, Warn
from harness.execution.batches import make_batches
from harness.execution.cluster.fleet import Fleet
from harness.execution.cluster.member import ClusterMember
from harness.execution.cluster.messages import NOT_INSTALLED, Engine, is_installed
from harness.execution.cluster.queue import Queue
from harness.execution.cluster.store import Supply
from harness.execution.executor import Executor
from harness.execution.order import FinishedCall, Inputs, Order
from harness.outcome import CallResult, Outcome
from harness.sandbox import Limits, SandboxChoice

#: Seconds after which a machine reports even if nothing has happened.
REPORT_S = 0.5

#: A call is given up after this number of machines were lost while they made it.
ATTEMPTS = 3


class Cluster(Executor):
    """Sends calls to a process on each machine of a cluster, and collects their results.

    The calls of a lost machine go to other machines. A call fails if `ATTEMPTS` machines are lost while they make it.
    """

    @abstractmethod
    def connect(self, **parameters: str | None) -> Engine:
        """Connect to the cluster, and return its `Engine`. Raise `UserError` if the cluster cannot be reached."""

    def __init__(
        self, sandbox: SandboxChoice, memory_bytes: int | None, workers: int | None, warn: Warn,
        machine_class: str | None = None, **parameters: str | None,
    ) -> None:  # fmt: skip
        """Start a process on every machine. Only machines whose description contains `machine_class` make calls."""
        self._warn = warn
        self._engine = self.connect(**parameters)
        self._queue = Queue()
        self._orders: dict[int, Order] = {}  #: number -> order that has no result yet
        self._attempts: Counter[int] = Counter()
        self._returned: deque[FinishedCall[int]] = deque()
        self._supply = Supply(self._engine.put)
        self.fleet = Fleet(self._engine, sandbox, memory_bytes, workers, machine_class or "", warn, self._lose)
        try:
            self.fleet.begin()
        except BaseException:
            self.fleet.end()
            self._engine.close()
            raise
        ready, common = self.fleet.ready, self.fleet.common
        self.limits = Limits(self.fleet.memory_bytes, processes=max(one.processes for one in ready))
        self.isolation, self.is_sandboxed = common.isolation, common.is_sandboxed
        self.shown = frozenset(Path(path) for one in ready for path in one.shown)

    @property
    def workers(self) -> int:
        """Number of calls that all machines together make at once."""
        return sum(one.workers for one in self.fleet.ready)

    def versions(self, runtime: str) -> str:
        """Return the library versions that all machines share. Raise `UserError` if the runtime is not installed."""
        found = self.fleet.common.versions[runtime]
        if not is_installed(found):
            raise UserError(found.removeprefix(NOT_INSTALLED))
        return found

    def prepare(self, runtimes: Collection[str]) -> None:
        """Try the sandbox on all machines, once per runtime. A machine on which it fails makes no calls."""
        if set(runtimes) - set(self.fleet.runtimes):
            self.fleet.prepare(sorted(runtimes))

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        """Queue calls for any machine."""
        self._orders |= {order.number: order for order in orders}
        self._supply.add(orders, inputs)
        self._queue.add(make_batches(orders))

    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        """Send waiting calls. Return the next finished call; None if no call ends within `timeout_s` seconds."""
        until = time.monotonic() + timeout_s
        while not self._returned:
            left_s = until - time.monotonic()
            if left_s <= 0:
                return None
            self._hand_out()
            for member, report in self.fleet.reports(min(left_s, REPORT_S)):
                for one in member.take(report):
                    self._queue.note(self._orders.pop(one.call), one.result.call_wall_s)
                    self._returned.append(one)
                if report.retired:
                    self.fleet.dismiss(member, report.retired)
            try:
                self.fleet.look_after()  # here, so that it also happens while calls end all the time
            except UserError:
                if not self._returned:  # finished calls are returned before an error
                    raise
        return self._returned.popleft()

    @property
    def wanted(self) -> int:
        """Number of batches that the machines could take now."""
        return self._queue.wanted(self.fleet.members)

    def __exit__(self, *exception: object) -> None:
        self.fleet.end()
        self._engine.close()

    def _hand_out(self) -> None:
        """Send the inputs that machines need, and send waiting batches to machines with room."""
        for member in self.fleet.members:
            while member.room and (batch := self._queue.take(member)) is not None:
                member.give(batch)
            if member.future is None and member.batches and member.ready is not None:
                supplies = self._supply.answer(sorted(member.needs))
                orders = [self._queue.current(order) for order in member.outbox]
                member.outbox, member.needs = [], set()
                self.fleet.ask(member, member.ready.incarnation, orders, supplies, REPORT_S)

    def _lose(self, member: ClusterMember, why: str) -> None:
        """Queue the unfinished calls of a lost machine again. A call fails after `ATTEMPTS` lost machines."""
        batches, begun, spent_s = member.lose()
        if batches:
            n_calls = sum(map(len, batches))
            self._warn(f"machine {member.name} {why}; its {n_calls} calls under way are made again")
        self._attempts.update(begun)
        for number in [number for number in begun if self._attempts[number] >= ATTEMPTS]:
            message = f"{ATTEMPTS} machines were lost while they made this call"
            result = CallResult(Outcome.INFRA_ERROR, message=message)
            del self._orders[number]
            self._returned.append(FinishedCall(number, result, datetime.now(UTC), {}, self.isolation))
        left = (tuple(order for order in batch if order.number in self._orders) for batch in batches)
        self._queue.put_back([batch for batch in left if batch], spent_s, member)
