"""An executor whose calls are made on the machines of a cluster; subclasses name the engine."""

import time
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import harness
from harness.errors import UserError
from harness.execution.batches import make_batches
from harness.execution.cluster.engine import Engine, GoneError, UnavailableError
from harness.execution.cluster.inputs import Supply
from harness.execution.cluster.member import BEGIN, DESCRIBE, EXCHANGE, PREPARE, Member
from harness.execution.cluster.messages import NOT_INSTALLED, Description, Ready, Report
from harness.execution.cluster.queue import Queue
from harness.execution.executor import Executor
from harness.execution.loader import loader_digest
from harness.execution.order import Inputs, Order, Returned
from harness.outcome import CallResult, Outcome
from harness.sandbox import Limits, SandboxChoice, Warn
from harness.worker.runtimes import RUNTIMES

#: Seconds that machines have to answer in the beginning, before the run goes on without the others.
START_S = 60.0

#: Seconds that a machine may take to answer that it makes calls; then its process is killed.
SILENCE_S = 60.0

#: Seconds between two looks for new machines, and between two questions to a process that does not answer.
LOOK_S, AGAIN_S = 5.0, 1.0

#: Seconds that a machine waits for something to happen before it reports.
REPORT_S = 0.5

#: Seconds for machines to end their calls themselves; then their processes are killed, and all that is theirs.
END_S = 3.0

#: Times that a call may be begun on machines that are lost.
ATTEMPTS = 3

#: Seconds without any machine after which the run ends.
ALONE_S = 600.0

_DIFFERENT = "install the same versions there, as docs/cluster.md says"


class Cluster(Executor):
    """One process per machine makes calls there as the local executor does; this one plans, and holds reference data.

    A lost machine's orders are given to others; a call that had begun is tried `ATTEMPTS` times. What a lost machine
    may still return is void.
    """

    @abstractmethod
    def connect(self) -> Engine:
        """Return the engine; raises `UserError`."""

    def __init__(
        self, sandbox: SandboxChoice, memory_bytes: int | None, workers: int | None, warn: Warn,
        **parameters: str | None,
    ) -> None:  # fmt: skip
        """Start a process on every machine, and find out what they have in common."""
        self.parameters_given = parameters
        self._sandbox, self._workers, self._warn = sandbox, workers, warn
        self._memory_bytes = memory_bytes
        self._engine = self.connect()
        self._members: dict[str, Member] = {}
        self._runtimes: tuple[str, ...] = ()  #: that are prepared
        self._queue = Queue()
        self._orders: dict[int, Order] = {}  #: under way or waiting
        self._attempts: Counter[int] = Counter()
        self._returned: deque[Returned] = deque()
        self._supply = Supply(self._engine.put)
        self._looked_at = self._seen_at = time.monotonic()
        self._common: Ready | None = None
        try:
            self._look()
            self._gather(DESCRIBE)
            if memory_bytes is None:
                found = [one.description.default_memory_bytes for one in self._there if one.description]
                self._memory_bytes = min(found)
            self._gather(BEGIN)
            self._agree()
        except BaseException:
            self._engine.close()
            raise
        classes = Counter(one.description.machine_class for one in self._there if one.description)
        if len(classes) > 1:
            found_text = "; ".join(f"{count} of {kind}" for kind, count in classes.most_common())
            warn(f"machines differ, and values may in their last digits: {found_text}")

    @property
    def limits(self) -> Limits:
        """Limits of a call, with memory that every machine has."""
        processes = max(one.ready.processes for one in self._there if one.ready)
        return Limits(memory_bytes=self._memory_bytes or 0, processes=processes)

    @property
    def isolation(self) -> str:
        """Isolation that the machines have in common."""
        return self._agreed.isolation

    @property
    def is_sandboxed(self) -> bool:
        """Whether calls are isolated there."""
        return self._agreed.is_sandboxed

    @property
    def workers(self) -> int:
        """Number of concurrent calls on all machines."""
        return sum(one.ready.workers for one in self._there if one.ready)

    @property
    def shown(self) -> frozenset[Path]:
        """Directories that a sandbox shows on any of the machines: one may be this one, or share its files."""
        return frozenset(Path(path) for one in self._there if one.ready for path in one.ready.shown)

    def versions(self, runtime: str) -> str:
        """Return the versions that the machines have in common; raises `UserError` if the runtime is not installed."""
        found = self._agreed.versions[runtime]
        if found.startswith(NOT_INSTALLED):
            raise UserError(found.removeprefix(NOT_INSTALLED))
        return found

    def prepare(self, runtimes: Collection[str]) -> None:
        """Try the sandbox on all machines; those where it does not work get no calls."""
        new = set(runtimes) - set(self._runtimes)
        if not new:
            return
        self._runtimes = tuple(sorted({*self._runtimes, *new}))
        for member in self._there:
            if member.ready is not None:
                self._require_same_versions(member)
                member.step = PREPARE
        self._gather(PREPARE)

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        """Queue orders."""
        self._orders |= {order.number: order for order in orders}
        self._supply.add(orders, inputs)
        self._queue.add(make_batches(orders))
        self._hand_out()

    def next(self, timeout_s: float) -> Returned | None:
        """Return what the machines return, and look after them meanwhile."""
        until = time.monotonic() + timeout_s
        while not self._returned:
            left = until - time.monotonic()
            if left <= 0:
                return None
            self._hand_out()
            self._wait(min(left, AGAIN_S))
            self._look_again()
        return self._returned.popleft()

    @property
    def wanted(self) -> int:
        """Number of batches for which the machines have room."""
        return self._queue.wanted(self._there)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ending = [self._engine.ask(member.handle, "end") for member in self._there]
        until = time.monotonic() + END_S
        while ending and time.monotonic() < until:
            over = self._engine.ready(ending, until - time.monotonic())
            ending = [one for one in ending if one not in over]
        for member in self._members.values():
            self._engine.kill(member.handle)
        self._engine.close()

    # -- machines ---------------------------------------------------------------------------------------------------

    @property
    def _there(self) -> list[Member]:
        return [member for member in self._members.values() if not member.is_out]

    @property
    def _agreed(self) -> Ready:
        if self._common is None:
            raise RuntimeError("the machines have not begun")
        return self._common

    def _look(self) -> None:
        """Start a process on each machine that is new."""
        nodes = self._engine.nodes()
        for node in self._members.keys() - nodes.keys():
            member = self._members.pop(node)
            self._lose(member, "is no longer part of the cluster")
            self._engine.kill(member.handle)
        for node in nodes.keys() - self._members.keys():
            self._members[node] = Member(node, nodes[node], self._engine.start(node))
        self._looked_at = time.monotonic()

    def _look_again(self) -> None:
        now = time.monotonic()
        if now - self._looked_at > LOOK_S:
            self._look()
        for member in self._there:
            if member.future is not None and member.step == EXCHANGE and now - member.asked_at > SILENCE_S:
                self._start_again(member, f"has not answered for {SILENCE_S:g} s")
        if any(member.makes_calls for member in self._there):
            self._seen_at = now
        elif not self._there or now - self._seen_at > ALONE_S:
            raise UserError("no machine of the cluster makes calls any more", remedy=AGAIN)

    def _gather(self, step: str) -> None:
        """Wait until every machine has gone beyond a step; those that have not answered in time are named."""
        until = time.monotonic() + (START_S if step != PREPARE else 10 * START_S)
        while waiting := [one for one in self._there if one.step == step]:
            if time.monotonic() > until:
                names = ", ".join(one.name for one in waiting)
                self._warn(f"no answer from {names}: busy with other work of the cluster? The run goes on without")
                break
            self._hand_out(step)
            self._wait(0.2)
        if not any(one.step != step for one in self._there):
            raise UserError(
                "no machine of the cluster makes calls", remedy="see the lines above, and pgdl doctor there"
            )

    def _agree(self) -> None:
        """Take what most machines have in common; the others get no calls."""
        ready = [one for one in self._there if one.ready is not None]
        isolations = Counter(one.ready.isolation for one in ready if one.ready)
        isolation = isolations.most_common(1)[0][0]
        same = [one for one in ready if one.ready and one.ready.isolation == isolation]
        versions = {}
        for name in RUNTIMES:
            found = Counter(one.ready.versions[name] for one in same if one.ready)
            versions[name] = found.most_common(1)[0][0]
        first = next(one.ready for one in same if one.ready)
        self._common = Ready(
            "", 0, 0, isolation, first.is_sandboxed, frozenset(), versions, tuple(first.lacks)
        )  # fmt: skip
        for line in first.lacks:
            self._warn(line)
        for member in ready:
            self._require_same_isolation(member)

    # -- the conversation -------------------------------------------------------------------------------------------

    def _hand_out(self, step: str | None = None) -> None:
        """Ask each machine what it is to be asked next, unless it has not answered yet."""
        now = time.monotonic()
        for member in self._there:
            while member.room and (batch := self._queue.take(member)) is not None:
                member.give(batch)
            if member.future is None and now >= member.again_at and (step is None or member.step == step):
                self._ask(member)

    def _ask(self, member: Member) -> None:
        arguments: tuple[Any, ...] = ()
        if member.step == BEGIN:
            arguments = self._sandbox, self._memory_bytes, self._workers
        elif member.step == PREPARE:
            if not self._runtimes:
                return
            arguments = (self._runtimes,)
        elif member.step == EXCHANGE:
            if not member.batches or member.ready is None:
                return
            supplies = self._supply.answer(sorted(member.needs))
            orders = [self._queue.current(order) for order in member.outbox]
            arguments = member.ready.incarnation, orders, supplies, REPORT_S
            member.outbox, member.needs = [], set()
        member.asked_at = time.monotonic()
        member.future = self._engine.ask(member.handle, member.step, *arguments)

    def _wait(self, timeout_s: float) -> None:
        """Wait for an answer, and take note of all that have come."""
        futures = {id(one.future): one for one in self._there if one.future is not None}
        if not futures:
            time.sleep(min(timeout_s, 0.05))
            return
        for future in self._engine.ready([one.future for one in futures.values()], timeout_s):
            member = futures[id(future)]
            if member.future is future:
                member.future = None
                self._take(member, future)

    def _take(self, member: Member, future: Any) -> None:
        try:
            answer = self._engine.result(future)
        except UnavailableError:
            self._lose(member, "does not answer")
            member.again_at = time.monotonic() + AGAIN_S
        except GoneError as error:
            if member.description is None:
                self._dismiss(member, f"its process does not start: {error}")
            else:
                self._start_again(member, "has lost its process")
        else:
            self._understand(member, answer)

    def _understand(self, member: Member, answer: object) -> None:
        if isinstance(answer, Description):
            member.description, member.step = answer, BEGIN
            if (self.parameters_given.get("machine-class") or "") not in answer.machine_class:
                self._leave(member)
            else:
                self._require_same_harness(member, answer)
        elif isinstance(answer, Ready):
            member.ready, member.step = answer, PREPARE
            if self._common is not None:
                self._require_same_isolation(member)
                self._require_same_versions(member)
        elif isinstance(answer, Report):
            self._take_report(member, answer)
        elif answer:  # why it could not begin or prepare
            self._dismiss(member, str(answer))
        else:
            member.step = EXCHANGE

    def _take_report(self, member: Member, report: Report) -> None:
        if member.ready is None or report.incarnation != member.ready.incarnation:
            self._lose(member, "has started again")
            return
        for one in member.take(report):
            order = self._orders.pop(one.number)
            self._queue.note(order, one.result.call_wall_s)
            self._returned.append(one)
        if report.retired:
            self._dismiss(member, report.retired)

    # -- losses -----------------------------------------------------------------------------------------------------

    def _lose(self, member: Member, why: str) -> None:
        """Queue again what was under way on a machine."""
        batches, begun, spent_s = member.lose()
        if batches:
            n_calls = sum(map(len, batches))
            self._warn(f"machine {member.name} {why}; its {n_calls} calls under way are made again")
        self._attempts.update(begun)
        for number in [number for number in begun if self._attempts[number] >= ATTEMPTS]:
            self._give_up(self._orders.pop(number))
        left = (tuple(order for order in batch if order.number in self._orders) for batch in batches)
        self._queue.put_back([batch for batch in left if batch], spent_s, member)

    def _give_up(self, order: Order) -> None:
        message = f"{ATTEMPTS} machines were lost while they made this call"
        result = CallResult(Outcome.INFRA_ERROR, message=message)
        self._returned.append(Returned(order.number, result, datetime.now(UTC), {}, self.isolation))

    def _start_again(self, member: Member, why: str) -> None:
        self._lose(member, why)
        self._engine.kill(member.handle)
        del self._members[member.node]  # if the machine is still there, the next look starts another process
        self._looked_at = 0.0

    def _dismiss(self, member: Member, why: str) -> None:
        """Give no further calls to a machine."""
        self._warn(f"machine {member.name} gets no calls: {why}")
        self._lose(member, "makes no further calls")
        self._leave(member)

    def _leave(self, member: Member) -> None:
        member.is_out = True
        self._engine.kill(member.handle)

    # -- what must be the same ----------------------------------------------------------------------------------------

    def _require_same_harness(self, member: Member, found: Description) -> None:
        ours = harness.__version__, {name: loader_digest(name) for name in RUNTIMES}
        if (found.harness, dict(found.loaders)) != ours:
            self._dismiss(member, f"pgdl-harness {found.harness} there is not the one here; {_DIFFERENT}")

    def _require_same_isolation(self, member: Member) -> None:
        expected, found = self._agreed.isolation, member.ready.isolation if member.ready else ""
        if found != expected:
            remedy = "name the same one by --sandbox, or mend what pgdl doctor shows there"
            self._dismiss(member, f"its sandbox: expected {expected} as elsewhere, found {found}; {remedy}")

    def _require_same_versions(self, member: Member) -> None:
        for name in self._runtimes:
            expected, found = self._agreed.versions[name], member.ready.versions[name] if member.ready else ""
            if found != expected:
                self._dismiss(member, f"runtime {name}: expected {expected} as elsewhere, found {found}; {_DIFFERENT}")
                return


AGAIN = "mend them, then run the same command again: finished calls are kept"
