"""Looking at a call, without waiting for what takes long."""

import threading
from types import SimpleNamespace

import pytest

from harness.outcome import Outcome
from harness.sandbox import memory
from harness.sandbox.call import Call
from harness.sandbox.job import Limits
from harness.sandbox.memory import MemoryWatch, Usage
from harness.sandbox.process import Ended


class Time:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def test_what_is_quick_is_known_at_once() -> None:
    sizes = iter(range(1, 4))
    watch = MemoryWatch(lambda: Usage(next(sizes), 0.0), patience_s=240)
    assert [watch.sample() for _ in range(3)] == [Usage(1, 0.0), Usage(2, 0.0), Usage(3, 0.0)]


def test_nobody_waits_for_what_takes_long_nor_begins_it_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    time = Time()
    monkeypatch.setattr(memory, "time", time)
    measured, let_go = [], threading.Event()

    def measure() -> Usage:
        measured.append(len(measured))
        let_go.wait()
        return Usage(len(measured), 0.0)

    watch = MemoryWatch(measure, patience_s=0.01)
    assert [watch.sample(), watch.sample()] == [None, None]
    time.now += 10
    let_go.set()
    while (usage := watch.sample()) is None:
        pass
    assert (usage, measured) == (Usage(1, 0.0), [0])
    assert watch.sample() is None, "it rests for as long as that took"
    time.now += 10.1
    while (usage := watch.sample()) is None:
        pass
    assert usage == Usage(2, 0.0)


def test_nothing_is_called_in_a_sandbox_that_cannot_be_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SimpleNamespace(sandbox=SimpleNamespace(storage=lambda: None))
    call = Call(worker, Limits(), lambda: False)  # type: ignore[arg-type]
    monkeypatch.setattr(call, "_expect", lambda *_: {"environment": {}})
    with pytest.raises(Ended) as ended:
        call.wait_until_ready(0.0)
    assert ended.value.outcome is Outcome.INFRA_ERROR


def test_a_closed_watch_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    watch = MemoryWatch(lambda: Usage(1, 0.0), patience_s=240)
    watch.sample()
    (thread,) = set(threading.enumerate()) - before
    watch.close()
    thread.join(240)
    assert not thread.is_alive()


def test_a_defect_shows_where_one_looks() -> None:
    watch = MemoryWatch(lambda: Usage(1 // 0, 0.0), patience_s=240)
    with pytest.raises(ZeroDivisionError):
        watch.sample()
