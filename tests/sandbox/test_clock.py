"""Tests of how a call is measured without long waits, of the clock that ends it, and of a harness that was stopped."""

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import hypothesis.strategies as st
import psutil
import pytest
from hypothesis import given

from harness.outcome import Outcome
from harness.sandbox import clock as clock_module
from harness.sandbox import memory
from harness.sandbox.call import Call
from harness.sandbox.clock import PAUSE_S, Clock, Deadline
from harness.sandbox.job import Limits
from harness.sandbox.memory import MemoryWatch, Usage
from harness.sandbox.process import Ended


class Time:
    """A clock that advances only when a test sets it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def test_nobody_waits_for_what_takes_long_nor_begins_it_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = Time()
    monkeypatch.setattr(memory, "time", simulated)
    measured, let_go = [], threading.Event()

    def measure() -> Usage:
        measured.append(len(measured))
        let_go.wait()
        return Usage(len(measured), 0.0)

    watch = MemoryWatch(measure, patience_s=0.01)
    assert [watch.sample(), watch.sample()] == [None, None]
    simulated.now += 10
    let_go.set()
    while (usage := watch.sample()) is None:
        pass
    assert (usage, measured) == (Usage(1, 0.0), [0])
    assert watch.sample() is None, "it rests for as long as that took"
    simulated.now += 10.1
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


def test_what_is_quick_is_known_at_once_and_a_closed_watch_leaves_no_thread() -> None:
    looking: list[threading.Thread] = []

    def measure() -> Usage:
        looking.append(threading.current_thread())
        return Usage(len(looking), 0.0)

    watch = MemoryWatch(measure, patience_s=240)
    assert [watch.sample() for _ in range(3)] == [Usage(1, 0.0), Usage(2, 0.0), Usage(3, 0.0)]
    watch.close()
    looking[0].join(240)
    assert not looking[0].is_alive()


def test_a_defect_shows_where_one_looks() -> None:
    watch = MemoryWatch(lambda: Usage(1 // 0, 0.0), patience_s=240)
    with pytest.raises(ZeroDivisionError):
        watch.sample()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 50)), max_size=30))
def test_what_is_left_of_a_shared_clock_is_the_total_less_the_seconds_of_all_calls(
    steps: list[tuple[int, int]],
) -> None:
    """Each step starts or stops one of four calls, or counts 900 s used before; then some seconds pass."""
    simulated = Time()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock_module, "time", simulated)
        clock, running, began, used = Clock(1000.0, ""), {}, {}, 0
        for call, seconds in steps:
            if call == 4:
                clock.spend(900.0)
                used += 900
            elif call in running:
                assert clock.stop(running.pop(call)) == simulated.now - began[call]
            else:
                running[call], began[call] = clock.start(), simulated.now
            simulated.now += seconds
            used += seconds * len(running)
            assert clock.left() == 1000.0 - used


def test_a_deadline_ends_what_runs_unless_it_is_called_off() -> None:
    ended, never = threading.Event(), threading.Event()
    with Deadline(0.01, ended.set) as deadline:
        assert ended.wait(240)
    with Deadline(1000, never.set) as called_off:
        pass
    assert (deadline.passed_at is None, called_off.passed_at, never.is_set()) == (False, None, False)


#: Keeps the time of a call until it is told that the call is over, then says for how long it was stopped. Its argument
#: is the shortest pause.
KEEPER = """
import sys
from harness.sandbox import clock
clock.PAUSE_S = float(sys.argv[1])
with clock.Deadline(600, lambda: None) as deadline:
    print("keeps", flush=True)
    input()
print(deadline.paused_s, deadline.passed_at)
"""


@pytest.mark.parametrize(("shortest", "is_noticed"), [(0.3, True), (60.0, False)])
def test_a_process_that_is_stopped_notices_it(shortest: float, is_noticed: bool) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER, str(shortest)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "keeps\n"
        keeper.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        while psutil.Process(keeper.pid).status() != psutil.STATUS_STOPPED or time.monotonic() < began + 0.5:
            time.sleep(0.01)
        keeper.send_signal(signal.SIGCONT)
        told, _ = keeper.communicate("over\n")
    paused, passed = told.split()
    assert passed == "None"
    assert (float(paused) > shortest) is is_noticed


@pytest.mark.parametrize("waits_for_a_processor", [False, True])
def test_a_harness_that_was_stopped_ends_its_call_but_not_one_that_waits_for_a_processor(
    monkeypatch: pytest.MonkeyPatch, waits_for_a_processor: bool
) -> None:
    clocks, waits = count(step=PAUSE_S + 1), count(PAUSE_S + 1, PAUSE_S + 1)
    ended, looked = threading.Event(), threading.Event()

    def explained_s() -> float:
        looked.set()
        return next(waits) if waits_for_a_processor else 0.0

    monkeypatch.setattr(clock_module, "_explained_s", explained_s)
    simulated = SimpleNamespace(monotonic=lambda: next(clocks), process_time=lambda: 0.0)
    monkeypatch.setattr(clock_module, "time", simulated)
    with Deadline(1000, ended.set) as deadline:
        assert (looked if waits_for_a_processor else ended).wait(60)
    assert (deadline.paused_s, deadline.passed_at) == (0 if waits_for_a_processor else PAUSE_S + 1, None)


@pytest.mark.skipif(not Path("/proc/thread-self/schedstat").exists(), reason="this kernel does not count waiting times")
def test_the_kernel_says_how_long_a_thread_waited_for_a_processor() -> None:
    """Five processes share one processor, so each waits most of the time."""
    program = (
        "import os, time; from harness.sandbox.clock import _explained_s\n"
        "others = []\n"
        "for _ in range(4):\n"
        "    if (other := os.fork()) == 0:\n"
        "        while os.getppid() > 1: pass\n"
        "        os._exit(0)\n"
        "    others.append(other)\n"
        "began, before = time.monotonic(), _explained_s()\n"
        "while time.monotonic() < began + 1: pass\n"
        "print((_explained_s() - before) / (time.monotonic() - began))\n"
        "[os.kill(other, 9) for other in others]\n"
    )
    processor = min(os.sched_getaffinity(0))
    done = subprocess.run(
        [sys.executable, "-c", f"import os; os.sched_setaffinity(0, [{processor}])\n{program}"],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert 0.9 < float(done.stdout) < 1.1, done.stderr
