"""Tests of how a call is measured without long waits, and of the clock that ends it, with simulated time."""

import threading
from types import SimpleNamespace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from harness.outcome import Outcome
from harness.sandbox import clock as clock_module
from harness.sandbox import memory
from harness.sandbox.call import Call
from harness.sandbox.clock import Clock, Deadline
from harness.sandbox.job import Limits
from harness.sandbox.memory import MemoryWatch, Usage
from harness.sandbox.process import Ended


class Time:
    """A clock that advances only when a test sets it."""

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
        call._wait_until_ready(0.0)
    assert ended.value.outcome is Outcome.INFRA_ERROR


def test_a_closed_watch_leaves_no_thread() -> None:
    looking: list[threading.Thread] = []

    def measure() -> Usage:
        looking.append(threading.current_thread())
        return Usage(1, 0.0)

    watch = MemoryWatch(measure, patience_s=240)
    watch.sample()
    watch.close()
    looking[0].join(240)
    assert not looking[0].is_alive()


def test_a_defect_shows_where_one_looks() -> None:
    watch = MemoryWatch(lambda: Usage(1 // 0, 0.0), patience_s=240)
    with pytest.raises(ZeroDivisionError):
        watch.sample()


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    hand_wound = Time()
    monkeypatch.setattr(clock_module, "time", hand_wound)
    return hand_wound


def test_two_running_calls_use_a_shared_clock_twice_as_fast(time: Time) -> None:
    clock = Clock(100.0, "the task's time budget")
    first = clock.start()
    time.now += 10
    second = clock.start()
    time.now += 10
    assert clock.left() == 70.0
    assert clock.stop(first) == 20.0
    time.now += 5
    assert clock.left() == 65.0
    assert clock.stop(second) == 15.0
    assert clock.left() == 65.0


def test_time_used_before_counts_and_may_be_too_much(time: Time) -> None:
    clock = Clock(10.0, "")
    clock.spend(4.0)
    assert clock.left() == 6.0
    clock.spend(8.0)
    assert clock.left() == -2.0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), max_size=30))
def test_what_is_left_is_the_total_less_the_seconds_of_all_calls(steps: list[tuple[int, int]]) -> None:
    """Each step starts or stops one of four calls, then some seconds pass."""
    time = Time()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock_module, "time", SimpleNamespace(monotonic=time.monotonic))
        clock, running, used = Clock(1000.0, ""), {}, 0
        for call, seconds in steps:
            if call in running:
                clock.stop(running.pop(call))
            else:
                running[call] = clock.start()
            time.now += seconds
            used += seconds * len(running)
            assert clock.left() == 1000.0 - used


def test_a_deadline_ends_what_runs_while_everybody_is_busy() -> None:
    ended = threading.Event()
    with Deadline(0.01, ended.set) as deadline:
        assert ended.wait(240)
    assert deadline.passed_at is not None


def test_a_deadline_that_is_called_off_ends_nothing() -> None:
    ended = threading.Event()
    with Deadline(1000, ended.set) as deadline:
        pass
    assert deadline.passed_at is None
    assert not ended.is_set()
