"""The program that runs on each machine of a cluster, and makes calls there."""

import secrets
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import harness
from harness.errors import UserError
from harness.execution.cluster.agreement import installed_digests, loader_digests
from harness.execution.cluster.cache import Cache
from harness.execution.cluster.messages import NOT_INSTALLED, MachineDescription, MachineReport, ReadyMachine, Supplies
from harness.execution.cluster.store import Store
from harness.execution.executors.local import Local
from harness.execution.machine import machine_class, memory_for
from harness.execution.order import FinishedCall, Order
from harness.sandbox import SandboxChoice
from harness.worker.runtimes import RUNTIMES

#: Seconds between two checks whether a call has ended.
TICK_S = 0.02


class Machine:
    """Makes calls on a machine of a cluster.

    Its methods are called from a single thread of the process that plans the run. If a method fails for a reason that
    the user can mend, it returns the reason as text.
    """

    def __init__(self, fetch: Callable[[Any], Sequence[bytes]]) -> None:
        """`fetch` converts a reference of the cluster's engine to the bytes that the reference stands for."""
        self._fetch = fetch
        self._incarnation = ""
        self._local: Local | None = None

    def describe(self) -> MachineDescription:
        """Return properties of the machine that decide whether it may make calls."""
        return MachineDescription(
            machine_class(), harness.__version__, loader_digests(), installed_digests(), memory_for(None)
        )

    def begin(self, sandbox: SandboxChoice, memory_bytes: int, workers: int | None) -> ReadyMachine | str:
        """Choose a sandbox and create the executor. Return the machine's properties; after a failure, the reason."""
        self.end()  # ends calls of a driver that lost its connection to this process
        lacks: list[str] = []
        try:
            self._cache = Cache()
            self._store = Store(self._cache, self._fetch)
            local = Local(sandbox, memory_bytes, workers, lacks.append)
            local.__enter__()
        except UserError as error:
            return str(error)
        self._local, self._incarnation = local, secrets.token_hex(8)
        versions = {}
        for name in RUNTIMES:
            try:
                versions[name] = local.versions(name)
            except UserError as error:
                versions[name] = f"{NOT_INSTALLED}{error}"
        return ReadyMachine(
            self._incarnation, local.workers, local.limits.processes, local.isolation, local.is_sandboxed,
            frozenset(map(str, local.shown)), versions, tuple(lacks), self._cache.summary,
        )  # fmt: skip

    def prepare(self, runtimes: Collection[str]) -> str | MachineReport:
        """Try the sandbox in these runtimes. Return why it does not work, or an empty text if it works.

        If this process has replaced a process that ended, so that `begin` has not been called, return an empty report.
        """
        if self._local is None:
            return MachineReport(self._incarnation)
        try:
            self._local.prepare(runtimes)
        except UserError as error:
            return str(error)
        return ""

    def exchange(self, incarnation: str, orders: Sequence[Order], supplies: Supplies, wait_s: float) -> MachineReport:
        """Queue the calls of `orders`, and store `supplies`: inputs that earlier reports have requested.

        Report at the next event, at the latest after `wait_s` seconds. If `incarnation` names an earlier process on
        this machine, only return an empty report.
        """
        local = self._local
        if local is None or incarnation != self._incarnation:
            return MachineReport(self._incarnation)
        self._store.supply(supplies)
        before = local.under_way
        self._store.announce(orders)
        local.add(orders, self._store)
        returned: list[FinishedCall[int]] = []
        until = time.monotonic() + wait_s
        try:
            while True:
                while (one := local.next(0.0 if returned else TICK_S)) is not None:
                    returned.append(one)
                begun, needs = local.under_way, self._store.needs
                if returned or needs or begun - before or time.monotonic() > until:
                    return MachineReport(incarnation, tuple(returned), begun, needs)
        except Exception as error:  # any error: other machines continue
            why = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
            return MachineReport(incarnation, tuple(returned), local.under_way, retired=why)

    def end(self) -> None:
        """Kill all calls, and forget the executor."""
        if self._local is not None:
            self._store.close()
            self._local.__exit__(None, None, None)
            self._local, self._incarnation = None, ""
