"""Submissions, tasks and settings for plans of calls; none of them has files."""

import hashlib
from collections import deque
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness.configuration import GIB
from harness.execution.executor import Executor
from harness.execution.order import FinishedCall, Inputs, Order
from harness.execution.settings import RunSettings
from harness.format.architecture import Architecture, ModelShapes
from harness.outcome import CallResult, Outcome
from harness.sandbox import Limits
from harness.submission import Submission
from harness.submission.submission import Metadata
from harness.task.data import TrainingData
from harness.task.model import Model
from harness.task.task import Task


class Nowhere(Executor):
    """An executor that runs nothing; tests set its isolation and the versions that it finds."""

    name, summary = "nowhere", "nowhere"
    is_sandboxed, workers, wanted = True, 1, 1
    isolation = "bubblewrap"
    limits = Limits(memory_bytes=4 * GIB)
    shown: frozenset[Path] = frozenset()

    def __init__(self, isolation: str = "bubblewrap") -> None:
        self.isolation = isolation

    def versions(self, runtime: str) -> str:
        return f"runtime {runtime}"

    def prepare(self, runtimes: Collection[str]) -> None:
        """Do nothing."""

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        raise NotImplementedError

    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        """Do nothing."""


class Answering(Nowhere):
    """An executor that makes no call; `answer` gives the result of each order."""

    def __init__(self) -> None:
        super().__init__()
        self.orders = deque[Order]()

    def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
        self.orders.extend(orders)

    def next(self, timeout_s: float) -> FinishedCall[int] | None:
        if not self.orders:
            return None
        order = self.orders.popleft()
        return FinishedCall(order.number, self.answer(order), datetime.now(UTC), {}, "bubblewrap/fast")

    def answer(self, order: Order) -> CallResult:
        return CallResult(Outcome.OK, 1.0)


NOWHERE_TO_RUN = Nowhere()

SETTINGS = RunSettings(Limits(memory_bytes=4 * GIB))

NOWHERE = Path("/nowhere")
ARCHITECTURE = Architecture(NOWHERE, {"format": "layers", "layers": [], "input_shape": [3]}, (), ())


def make_submission(name: str = "margin", content: bytes = b"1", runtime: str | None = None) -> Submission:
    return Submission(name, {"complexity.py": content}, Metadata(runtime=runtime))


def make_model(name: str, content: str | None = None, shown: str | None = None) -> Model:
    """Return a model whose files have the digest of `content`.

    The part that submissions see has the digest of `shown`, by default of `content`.
    """
    files = content or f"files of {name}"
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in (files, shown or files)]
    return Model(name, NOWHERE / name, *digests, ARCHITECTURE, ModelShapes((), (2,)), has_initial_weights=False)


def make_task(models: list[Model] | int = 6, name: str = "toy", data: str = "data") -> Task:
    if isinstance(models, int):
        models = [make_model(f"model_{number}") for number in range(models)]
    return Task(name, tuple(models), TrainingData(NOWHERE, NOWHERE, data), reference=None)
