"""Starts a process on each machine of a cluster, and dismisses machines that fail or differ in code or isolation."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness.errors import UserError, Warn
from harness.execution.cluster.agreement import CommonSetup, agree, difference_from_here
from harness.execution.cluster.member import BEGIN, DESCRIBE, EXCHANGE, PREPARE, ClusterMember
from harness.execution.cluster.messages import (
    Engine,
    GoneError,
    MachineDescription,
    MachineReport,
    ReadyMachine,
    UnavailableError,
)
from harness.sandbox import SandboxChoice

#: Seconds within which a machine must answer at the start, and must be ready. A run goes on without slower machines.
START_S, PREPARE_S = 60.0, 600.0

#: Seconds within which a machine must answer while it makes calls; otherwise its process is killed.
SILENCE_S = 60.0

#: Seconds between two searches for new machines, and between two requests to a process that does not answer.
LOOK_S, AGAIN_S = 5.0, 1.0

#: Seconds after which the run ends if no machine makes calls. A gap of `AWAY_S` seconds begins the count anew: the run
#: did not look after its machines, for instance because it waited for another run.
ALONE_S, AWAY_S = 600.0, 60.0

#: Seconds within which machines must end their calls; then their processes are killed.
END_S = 3.0

_SEE = "see the lines above; pgdl doctor tells more"


class Fleet:
    """The machines of a cluster, with a process on each. Machines that make calls have equal isolation and versions."""

    def __init__(
        self, engine: Engine, sandbox: SandboxChoice, memory_bytes: int | None, workers: int | None,
        machine_class: str, warn: Warn, lose: Callable[[ClusterMember, str], None],
    ) -> None:  # fmt: skip
        """When a machine's process has lost its calls, `lose` is called with the machine and the reason."""
        self._engine, self._sandbox, self._workers, self._machine_class = engine, sandbox, workers, machine_class
        self._warn, self._lose = warn, lose
        self.memory_bytes = memory_bytes or 0  #: memory limit of a call; 0 until the limits of all machines are known
        self.runtimes: tuple[str, ...] = ()  #: the runtimes that are or will be prepared
        self._members: dict[str, ClusterMember] = {}
        self._common: CommonSetup | None = None
        self._looked_at = self._seen_at = self._cared_at = time.monotonic()

    @property
    def members(self) -> list[ClusterMember]:
        """The machines that have not been dismissed."""
        return [member for member in self._members.values() if not member.why_out]

    @property
    def all_members(self) -> list[ClusterMember]:
        """All machines, including dismissed machines."""
        return list(self._members.values())

    @property
    def ready(self) -> list[ReadyMachine]:
        """The properties of the machines that have chosen a sandbox."""
        return [member.ready for member in self.members if member.ready is not None]

    @property
    def common(self) -> CommonSetup:
        """The isolation and versions of the machines that make calls; available after `begin`."""
        if self._common is None:
            raise RuntimeError("the machines have not begun")
        return self._common

    def begin(self) -> None:
        """Start a process on every machine. Raise `UserError` if no machine can make calls."""
        self._look()
        self._gather(DESCRIBE, START_S)
        described = [member.description for member in self.members if member.description is not None]
        self.memory_bytes = self.memory_bytes or min(one.default_memory_bytes for one in described)
        classes = Counter(one.machine_class for one in described)
        if len(classes) > 1:
            found = "; ".join(f"{count} of {kind}" for kind, count in classes.most_common())
            self._warn(f"machines differ, so values may differ in their last digits: {found}")
        self._gather(BEGIN, START_S)
        if not self.ready:
            raise UserError("no machine of the cluster makes calls", remedy=_SEE)
        self._common = agree(self.ready)
        for line in sorted({line for one in self.ready for line in one.lacks}):
            self._warn(line)
        for member in self.members:
            self._compare(member)

    def prepare(self, runtimes: Sequence[str]) -> None:
        """Try the sandbox in these runtimes on all machines. Raise `UserError` if it works on no machine."""
        self.runtimes = tuple(sorted({*self.runtimes, *runtimes}))
        for member in self.members:
            if member.ready is not None:
                member.step = PREPARE
                self._compare(member)
        self._gather(PREPARE, PREPARE_S)

    def look_after(self) -> None:
        """Find new machines, and replace processes that do not answer. Raise `UserError` if no machine makes calls."""
        now = time.monotonic()
        if now - self._cared_at > AWAY_S:
            self._seen_at = now
        self._cared_at = now
        if now - self._looked_at > LOOK_S:
            self._look()
        for member in self.members:
            if member.future is not None and member.step == EXCHANGE and now - member.asked_at > SILENCE_S:
                self._forget(member, f"has not answered for {SILENCE_S:g} s")
            elif member.step in (DESCRIBE, BEGIN) or (member.step == PREPARE and self.runtimes):
                self._ask_on(member)
        all_are_out = bool(self._members) and not self.members
        if any(member.makes_calls for member in self.members):
            self._seen_at = now
        elif all_are_out or now - self._seen_at > ALONE_S:
            remedy = "mend the cluster, then run the same command again: finished calls are kept"
            raise UserError("no machine of the cluster makes calls any more", remedy=remedy)

    def ask(self, member: ClusterMember, *arguments: object) -> None:
        """Begin the next step of a machine if its last answer has arrived, and the time `again_at` is past."""
        if member.future is None and time.monotonic() >= member.again_at:
            member.asked_at = time.monotonic()
            member.future = self._engine.ask(member.handle, member.step, *arguments)

    def reports(self, timeout_s: float) -> Iterator[tuple[ClusterMember, MachineReport]]:
        """Wait up to `timeout_s` seconds for answers. Yield the machines that have answered and their reports."""
        futures = {id(member.future): member for member in self.members if member.future is not None}
        if not futures:
            time.sleep(min(timeout_s, 0.05))
            return
        for future in self._engine.ready([member.future for member in futures.values()], timeout_s):
            member = futures[id(future)]
            if member.future is future:
                member.future = None
                answer = self._answer(member, future)
                if isinstance(answer, MachineReport) and self._is_valid(member, answer):
                    yield member, answer

    def dismiss(self, member: ClusterMember, why: str) -> None:
        """Give no further calls to a machine, kill its process, and show `why` to the user."""
        self._warn(f"machine {member.name} gets no calls: {why}")
        member.why_out = why
        self._lose(member, "makes no further calls")
        self._engine.kill(member.handle)

    def end(self) -> None:
        """End all calls, and the harness' processes on all machines."""
        ending = [self._engine.ask(member.handle, "end") for member in self.members]
        until = time.monotonic() + END_S
        while ending and time.monotonic() < until:
            over = self._engine.ready(ending, until - time.monotonic())
            ending = [future for future in ending if future not in over]
        for member in self.members:
            self._engine.kill(member.handle)

    def _look(self) -> None:
        """Start a process on each new machine, and forget machines that have left the cluster."""
        nodes = self._engine.nodes()
        for node in self._members.keys() - nodes.keys():
            member = self._members.pop(node)
            self._lose(member, "is no longer part of the cluster")
            self._engine.kill(member.handle)
        for node in nodes.keys() - self._members.keys():
            self._members[node] = ClusterMember(node, nodes[node], self._engine.start(node))
        self._looked_at = time.monotonic()

    def _gather(self, step: str, patience_s: float) -> None:
        """Wait until every machine has completed the step, at most `patience_s` seconds; warn of slower machines."""
        until = time.monotonic() + patience_s
        while waiting := [member for member in self.members if member.step == step]:
            if time.monotonic() > until:
                names = ", ".join(member.name for member in waiting)
                self._warn(f"no answer from {names}: busy with other work of the cluster? The run goes on")
                break
            for member in waiting:
                self._ask_on(member)
            for _ in self.reports(0.2):
                pass
        if all(member.step == step for member in self.members):
            raise UserError("no machine of the cluster makes calls", remedy=_SEE)

    def _ask_on(self, member: ClusterMember) -> None:
        arguments: dict[str, tuple[Any, ...]] = {
            BEGIN: (self._sandbox, self.memory_bytes, self._workers), PREPARE: (self.runtimes,),
        }  # fmt: skip
        self.ask(member, *arguments.get(member.step, ()))

    def _answer(self, member: ClusterMember, future: Any) -> object:
        """Return a machine's answer, or None if its process does not answer. Set the machine's next step."""
        try:
            answer = self._engine.result(future)
        except UnavailableError:
            self._lose(member, "does not answer")
            member.again_at = time.monotonic() + AGAIN_S
            return None
        except GoneError as error:
            if member.description is None:
                self.dismiss(member, f"its process does not start: {error}")
            else:
                self._forget(member, "has lost its process")
            return None
        if isinstance(answer, MachineDescription):
            self._take_description(member, answer)
        elif isinstance(answer, ReadyMachine):
            member.ready, member.step = answer, PREPARE
            self._compare(member)
        elif isinstance(answer, str) and answer:  # why the machine could not begin or prepare
            self.dismiss(member, answer)
        elif isinstance(answer, str):
            member.step = EXCHANGE
        return answer

    def _take_description(self, member: ClusterMember, found: MachineDescription) -> None:
        member.description, member.step = found, BEGIN
        if self._machine_class not in found.machine_class:
            member.why_out = f"it is no {self._machine_class}, but {found.machine_class}"
            self._engine.kill(member.handle)
        elif (why := difference_from_here(found)) is not None:
            self.dismiss(member, why)

    def _compare(self, member: ClusterMember) -> None:
        if self._common is not None and member.ready is not None:
            why = self._common.difference(member.ready, self.runtimes)
            if why is not None:
                self.dismiss(member, why)

    def _is_valid(self, member: ClusterMember, report: MachineReport) -> bool:
        if member.ready is not None and report.incarnation == member.ready.incarnation:
            return True
        self._lose(member, "has started again")
        return False

    def _forget(self, member: ClusterMember, why: str) -> None:
        """Forget a machine whose process ended or does not answer; the next search finds it if it still exists."""
        self._lose(member, why)
        self._engine.kill(member.handle)
        del self._members[member.node]
        self._looked_at = 0.0
