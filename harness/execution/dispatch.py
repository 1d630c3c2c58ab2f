"""Passes planned calls to an executor, and matches the finished calls with the planned calls."""

import itertools
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from harness.execution.executor import Executor
from harness.execution.order import FinishedCall
from harness.execution.plan import PlannedCall
from harness.submission import Submission
from harness.task.data import TrainingData
from harness.task.model import Model

#: Maximum seconds to wait for a finished call before the caller does other work.
NEXT_CALL_S = 1.0

_numbers = itertools.count(1)


class Dispatch:
    """Gives planned calls to an executor, each as an `Order`, and returns the finished calls."""

    def __init__(self, executor: Executor) -> None:
        self._executor, self._inputs = executor, _OnDisk()
        self._under_way: dict[int, PlannedCall] = {}

    @property
    def is_idle(self) -> bool:
        """Whether all calls that were added have been returned."""
        return not self._under_way

    def add(self, calls: Sequence[PlannedCall]) -> None:
        """Give calls to the executor. Only baselines that are added in the same call of `add` may share a sandbox."""
        numbered = {next(_numbers): call for call in calls}
        for call in calls:
            self._inputs.add(call)
        self._under_way |= numbered
        self._executor.add([call.order(number) for number, call in numbered.items()], self._inputs)

    def next(self, timeout_s: float) -> FinishedCall[PlannedCall] | None:
        """Return the next finished call; None if no call ends within `timeout_s` seconds."""
        made = self._executor.next(timeout_s)
        if made is None:
            return None
        planned = self._under_way.pop(made.call)
        return FinishedCall(planned, made.result, made.started_at, made.machine, made.sandbox)


def make(executor: Executor, calls: Sequence[PlannedCall]) -> Generator[FinishedCall[PlannedCall]]:
    """Make calls, and yield each as it ends."""
    executor.prepare({call.runtime for call in calls})
    dispatch = Dispatch(executor)
    dispatch.add(calls)
    while not dispatch.is_idle:
        done = dispatch.next(NEXT_CALL_S)
        if done is not None:
            yield done


class _OnDisk:
    def __init__(self) -> None:
        self._submissions: dict[str, Submission] = {}
        self._models: dict[str, Model] = {}
        self._data: dict[str, TrainingData] = {}

    def add(self, call: PlannedCall) -> None:
        self._submissions[call.submission.digest] = call.submission
        self._models[call.model.digest] = call.model
        self._data[call.task.data.digest] = call.task.data

    def files(self, submission: str) -> Mapping[str, bytes]:
        return self._submissions[submission].files

    def write_model(self, digest: str, directory: Path) -> None:
        self._models[digest].write_canonical(directory)

    def write_data(self, digest: str, directory: Path) -> None:
        self._data[digest].write_canonical(directory)
