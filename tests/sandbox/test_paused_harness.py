"""Tests of deadlines: they distinguish a harness that was stopped from a harness that is late."""

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import count
from pathlib import Path

import psutil
import pytest

from harness.sandbox import clock
from harness.sandbox.clock import PAUSE_S, Deadline

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped on this system")

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


def test_the_call_of_a_stopped_harness_is_ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = count(step=PAUSE_S + 1)
    monkeypatch.setattr(clock, "_explained_s", lambda: 0.0)
    monkeypatch.setattr(clock.time, "monotonic", lambda: next(clocks))
    monkeypatch.setattr(clock.time, "process_time", lambda: 0.0)
    ended = threading.Event()
    with Deadline(1000, ended.set) as deadline:
        assert ended.wait(60)
    assert (deadline.paused_s, deadline.passed_at) == (PAUSE_S + 1, None)


def test_a_thread_that_waits_for_a_processor_was_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    late, looked = count(step=PAUSE_S + 1), threading.Event()

    def waited() -> float:
        looked.set()
        return next(late) + PAUSE_S + 1

    clocks = count(step=PAUSE_S + 1)
    monkeypatch.setattr(clock, "_explained_s", waited)
    monkeypatch.setattr(clock.time, "monotonic", lambda: next(clocks))
    monkeypatch.setattr(clock.time, "process_time", lambda: 0.0)
    with Deadline(1000, lambda: None) as deadline:
        assert looked.wait(60)
    assert deadline.paused_s == 0


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
