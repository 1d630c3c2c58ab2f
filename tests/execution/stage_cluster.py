"""A cluster within this process: every machine is a thread, and can be lost."""

import pickle
import threading
from collections.abc import Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from harness.execution.cluster.executor import Cluster
from harness.execution.cluster.machine import Machine
from harness.execution.cluster.messages import Engine, GoneError, UnavailableError


class Process:
    """Runs a `Machine` in a thread, where other engines use a process; it can be lost and start again."""

    def __init__(self, node: str) -> None:
        self.node, self.is_gone = node, False
        self._starts()

    def _starts(self) -> None:
        self.machine, self.thread = Machine(list), ThreadPoolExecutor(1)
        self.futures: set[Future[Any]] = set()
        self.error: Exception = UnavailableError()

    def ask(self, method: str, arguments: Sequence[Any]) -> Future[Any]:
        answer: Future[Any] = Future()
        if self.is_gone:
            answer.set_exception(GoneError("it has been killed"))
            return answer
        self.futures.add(answer)
        self.thread.submit(self._answer, answer, self.machine, method, arguments)
        return answer

    @staticmethod
    def _answer(answer: Future[Any], machine: Machine, method: str, arguments: Sequence[Any]) -> None:
        try:
            found = pickle.loads(pickle.dumps(getattr(machine, method)(*arguments)))
        except Exception as error:
            found = error
        if not answer.done():
            answer.set_exception(found) if isinstance(found, Exception) else answer.set_result(found)

    def crash(self, *, starts_again: bool) -> None:
        """End the machine; pending answers become errors."""
        old, self.is_gone = self.machine, not starts_again
        for future in self.futures:
            if not future.done():
                future.set_exception(UnavailableError() if starts_again else GoneError("the node died"))
        self.thread.shutdown(wait=True)
        ended = threading.Thread(target=old.end)  # as the kernel does: at once, not when a call is over
        ended.start()
        ended.join()
        if starts_again:
            self._starts()


class Threads:
    """An engine whose machines are threads; it keeps a copy of every message."""

    def __init__(self, *names: str) -> None:
        self.names = dict.fromkeys(names)
        self.processes: dict[str, Process] = {}
        self.started: list[str] = []
        self.sent: list[bytes] = []

    def nodes(self) -> dict[str, str]:
        return {name: name for name in self.names}

    def start(self, node: str) -> Process:
        self.started.append(node)
        self.processes[node] = Process(node)
        return self.processes[node]

    def ask(self, handle: Process, method: str, *arguments: object) -> Future[Any]:
        content = pickle.dumps(arguments)
        self.sent.append(content)
        return handle.ask(method, pickle.loads(content))

    def ready(self, futures: Sequence[Future[Any]], timeout_s: float) -> Collection[Future[Any]]:
        return wait(futures, timeout_s, FIRST_COMPLETED).done

    def result(self, future: Future[Any]) -> Any:
        return future.result()

    def put(self, content: Sequence[Any]) -> list[bytes]:
        return [bytes(one) for one in content]

    def kill(self, handle: Process) -> None:
        if not handle.is_gone:
            handle.crash(starts_again=False)

    def close(self) -> None:
        """Do nothing."""


class OnStage(Cluster):
    name, summary = "threads", "in threads"
    engine: Threads

    def connect(self, **parameters: str | None) -> Engine:
        return self.engine


def cluster(engine: Threads, *arguments: Any, **parameters: Any) -> OnStage:
    return type("OnThis", (OnStage,), {"engine": engine})(*arguments, **parameters)
