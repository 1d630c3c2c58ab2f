"""Tests that every executor passes the contract, including a small executor with a second process."""

import multiprocessing
from collections.abc import Collection, Sequence
from multiprocessing.connection import Connection
from typing import Any

import pytest

from harness.errors import Warn
from harness.execution.executor import Executor
from harness.execution.executors.local import Local
from harness.execution.order import FinishedCall, Inputs, Order
from harness.sandbox import Limits, SandboxChoice
from harness.testing import STAGE, ExecutorContract

pytestmark = pytest.mark.usefixtures("four_cores")


class TestLocal(ExecutorContract):
    def executor(self, workers: int) -> Executor:
        return Local(STAGE, None, workers, print)


class Second(Executor):
    """Makes calls in a second process behind a pipe, so that its messages must be picklable."""

    name, summary = "second", "in a second process"

    def __init__(
        self,
        sandbox: SandboxChoice,
        memory_bytes: int | None,
        workers: int | None,
        warn: Warn,
        **parameters: str | None,
    ) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["harness.testing", "harness.execution.executors"])
        self._pipe, theirs = context.Pipe()
        arguments = theirs, sandbox, memory_bytes, workers
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        self.limits, self.isolation, self.is_sandboxed, self.shown = self._ask("about")

    workers = property(lambda self: self._ask("workers"))
    wanted = property(lambda self: self._ask("wanted"))

    def versions(self, runtime: str) -> str:
        return str(self._ask("versions", runtime))

    def prepare(self, runtimes: Collection[str]) -> None:
        self._ask("prepare", runtimes)

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        self._ask("add", orders, inputs)

    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        returned: FinishedCall[int] | None = self._ask("next", timeout_s)
        return returned

    def _ask(self, *question: Any) -> Any:
        self._pipe.send(question)
        answer = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def __exit__(self, *exception: object) -> None:
        self._ask("stop")
        self._process.join()


def _serve(pipe: Connection, sandbox: SandboxChoice, memory_bytes: int | None, workers: int | None) -> None:
    with Local(sandbox, memory_bytes, workers, print) as local:
        while True:
            name, *arguments = pipe.recv()
            try:
                if name == "stop":
                    break
                if name == "about":
                    answer: Any = local.limits, local.isolation, local.is_sandboxed, local.shown
                else:
                    answer = getattr(local, name)
                    answer = answer(*arguments) if callable(answer) else answer
            except Exception as error:
                answer = error
            pipe.send(answer)
    pipe.send(None)


class TestSecond(ExecutorContract):
    def executor(self, workers: int) -> Executor:
        return Second(STAGE, None, workers, print)


def test_limits_and_orders_can_be_sent() -> None:
    with Second(STAGE, 2**30, 1, print) as executor:
        assert executor.limits == Limits(memory_bytes=2**30)
