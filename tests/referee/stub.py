"""Replaces sandbox, inspection and clock, so that a run takes milliseconds.

A submission is a file with a number. The number, the model, the data and the seed determine the outcome and the value
of a call: see `play`.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from harness.api import execution
from harness.ci import reading
from harness.execution import evaluation, execute, run, settings
from harness.execution.executor import Executor
from harness.execution.executors.local import Local
from harness.execution.order import FinishedCall, Inputs, Order
from harness.execution.plan import PlannedCall
from harness.inspector.answer import Answer
from harness.outcome import CallResult, Outcome
from harness.records import merge
from harness.sandbox import Limits, SandboxChoice
from harness.submission import find, library
from harness.submission import inspect as inspecting

#: When the stub's clock starts.
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)

_NUMBER = re.compile(rb"number = (\d+)")


class Played(NamedTuple):
    """The outcome and the value of a call."""

    outcome: str
    value: float | None


def play(number: int, model: int, data: int, seed: int) -> Played:
    """Return the outcome of a call of submission `number`; model and data are numbers for their contents."""
    outcome = {2: "EXCEPTION", 3: "TIMEOUT", 4: "INFRA_ERROR"}.get(number % 5, "OK")
    if outcome != "OK" and model % 3 == 0:
        return Played(outcome, None)
    return Played("OK", float((7 * number + 13 * model + 5 * data + 3 * seed * model) % 17))


def output_of(task: str) -> str:
    """Return the output and message of every call on a task."""
    return f"canary-output-on-{task}."


def number_in(files: bytes) -> int:
    """Return the number of a submission, or 0 for a measure of the library."""
    match = _NUMBER.search(files)
    return int(match[1]) if match else 0


class Stage:
    """The surroundings of calls; `before_call` runs before each call, and may interrupt the run."""

    def __init__(self, contents: Callable[[str, str], tuple[int, int]]) -> None:
        self.contents = contents  #: task and model -> numbers of the contents of model and data
        self.libraries = "1"
        self.library = library._library()  #: the sources of the library of measures
        self.seconds = 0
        self.made: list[PlannedCall] = []
        self.ordered: dict[int, PlannedCall] = {}  #: what no executor learns: what its orders are about
        self.before_call: Callable[[int], None] = lambda _: None

    def now(self) -> datetime:
        """Return the time; each call returns a later time."""
        self.seconds += 1
        return EPOCH + timedelta(seconds=self.seconds)


class Stub(Executor):
    """An executor that computes each call with `play`."""

    name, summary = Local.name, Local.summary  # imported commands keep it
    workers = wanted = 1
    limits = Limits()
    shown: frozenset[Path] = frozenset()
    stage: Stage

    def __init__(self, sandbox: SandboxChoice, *_: Any) -> None:
        self.isolation = "none" if sandbox.name == "none" else "bubblewrap"
        self.is_sandboxed = self.isolation != "none"
        self._waiting: deque[int] = deque()
        self._played = 0

    def versions(self, runtime: str) -> str:
        return f"libraries {self.stage.libraries}"

    def prepare(self, runtimes: Collection[str]) -> None:
        """Do nothing."""

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        self._waiting.extend(order.number for order in orders)

    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        self.stage.before_call(self._played)
        self._played += 1
        order = self._waiting.popleft()
        call = self.stage.ordered.pop(order)
        number = number_in(call.submission.files.get("complexity.py", b""))
        model, data = self.stage.contents(call.task.name, call.model.id)
        played = play(number, model, data, call.configuration.run_seed)
        message = "" if played.outcome == "OK" else output_of(call.task.name)
        self.stage.made.append(call)
        outcome, output = Outcome(played.outcome), output_of(call.task.name)
        result = CallResult(outcome, played.value, message, output_tail=output, call_wall_s=1.0)
        return FinishedCall(order, result, self.stage.now(), {}, self.isolation)

    def __exit__(self, *exception: object) -> None:
        """Do nothing."""


def inspect(path: Path) -> Answer:
    """Read a submission; a directory may claim a name in its metadata."""
    if path.is_file():
        return Answer({"complexity.py": path.read_bytes()}, {})
    metadata = (path / "metadata").read_text()
    files = {file.name: file.read_bytes() for file in path.iterdir()}
    return Answer(files, {"name": metadata.removeprefix("name: ").strip()})


@contextmanager
def staged(stage: Stage, harness: Path) -> Iterator[None]:
    """In the context, use the stubs with `stage`, and `harness` as the directory of the harness' sources.

    Every key of a call contains the digest of these sources.
    """
    Stub.stage = stage
    clock = SimpleNamespace(now=lambda _: stage.now())
    order_of = PlannedCall.order

    def order(call: PlannedCall, number: int = 0) -> Order:
        stage.ordered[number] = call
        return order_of(call, number)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(execution.EXECUTORS, "local", Stub)
        patch.setattr(PlannedCall, "order", order)
        patch.setattr(find, "inspect", inspect)
        for module in (reading, inspecting):
            patch.setattr(module, "find_flaw", lambda _: "")
        patch.setattr(settings, "_HARNESS", harness)
        patch.setattr(execute, "POLL_S", 0.0)
        patch.setattr(library, "_library", lambda: stage.library)
        for module in (run, evaluation, merge):
            patch.setattr(module, "datetime", clock)
        forget_sources()
        yield
    forget_sources()


def forget_sources() -> None:
    """Clear the cached digests of the harness' and the library's sources."""
    for kept in (settings.loader_digest, library._files_of, library._imports):
        kept.cache_clear()
