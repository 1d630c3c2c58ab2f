"""Tests of the Landlock sandbox's supervisor: it ends all processes of a call, even after the harness has ended."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import landlockpy
import psutil
import pytest

from harness.sandbox.kinds.landlock import NEEDED

pytestmark = pytest.mark.skipif(landlockpy.abi_version() < NEEDED, reason="this kernel's Landlock is too old")

#: Runs the code in the last argument, and then becomes the supervisor of a worker that runs the code in the third.
START = """
import os, signal, sys, time
from harness.worker.landlock import contain_descendants
from harness.worker.supervisor import main
line, scratch, work, before = int(sys.argv[1]), *sys.argv[2:]
contain_descendants()
worker = os.fork()
if worker == 0:
    os.close(line)
    os.chdir(scratch)
    exec(work)
    os._exit(0)
exec(before)
main(line, worker, scratch)
"""

DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
        time.sleep(600)
    os._exit(0)
"""

BREEDING = """
for _ in range(20):
    if os.fork() == 0:
        while True:
            try:
                if os.fork():
                    os._exit(0)
                os.setsid()
            except OSError:
                pass
"""


class Call:
    """A supervisor, and the harness' end of the connection to it."""

    def __init__(self, scratch: Path, work: str, before: str) -> None:
        self.scratch = scratch
        scratch.mkdir()
        self._line, theirs = socket.socketpair()
        with theirs:
            arguments = [str(theirs.fileno()), str(scratch), work, before]
            self.process = subprocess.Popen([sys.executable, "-c", START, *arguments], pass_fds=(theirs.fileno(),))
        self._line.settimeout(240)
        self._reader = self._line.makefile("rb")

    def hear(self) -> Any:
        """Return the next message of the supervisor, or None at its end."""
        line = self._reader.readline()
        return json.loads(line) if line else None

    def end(self) -> None:
        self._line.shutdown(socket.SHUT_WR)

    def vanish(self) -> None:
        """Close the connection as the kernel does if the harness is killed."""
        self._reader.close()
        self._line.close()

    def wait_until_below(self, number: int) -> None:
        """Wait until the supervisor has at least `number` descendants."""
        while len(psutil.Process(self.process.pid).children(recursive=True)) < number:
            assert self.process.poll() is None


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    calls: list[Call] = []

    def begin(work: str, before: str = "") -> Call:
        calls.append(Call(tmp_path / f"scratch{len(calls)}", work, before))
        return calls[-1]

    yield begin
    for call in calls:
        call.vanish()
        call.process.wait(timeout=500)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user outside of the call."""
    with subprocess.Popen(["/bin/sleep", "600"]) as process:
        yield process
        process.kill()


def is_inside(process: psutil.Process, directory: Path) -> bool:
    try:
        return process.cwd().startswith(str(directory))
    except (psutil.Error, OSError):  # it ended, or another test's process works where no path is long enough
        return False


@pytest.mark.parametrize(
    "work", [DAEMON, f"{DAEMON}\ntime.sleep(600)", BREEDING, "os.kill(os.getpid(), signal.SIGSTOP)"]
)
def test_all_of_a_call_ends_and_nothing_else(start: Any, bystander: Any, work: str) -> None:
    call = start(work)
    call.wait_until_below(1)
    call.end()
    said = [call.hear()]
    while said[-1] is not None:
        said.append(call.hear())
    assert said[-2] == {"gone": True}
    assert call.process.wait(timeout=500) == 0
    assert not call.scratch.exists()
    assert bystander.poll() is None
    assert [process for process in psutil.process_iter() if is_inside(process, call.scratch)] == []


def test_it_says_how_the_worker_ended_and_goes_on(start: Any) -> None:
    call = start(f"{DAEMON}\nos._exit(3)")
    assert call.hear() == {"status": 3}
    call.wait_until_below(1)
    assert call.process.poll() is None
    assert start("os.kill(os.getpid(), signal.SIGKILL)").hear() == {"status": -signal.SIGKILL}


def test_a_call_ends_although_its_processes_end_as_fast_as_they_are_reaped(start: Any) -> None:
    call = start("time.sleep(600)", before="os.waitpid = lambda *_: (12345, 0)")
    call.end()
    assert call.hear() == {"gone": True}


def test_everything_ends_when_the_harness_is_gone(start: Any) -> None:
    call = start(f"{DAEMON}\nopen('left', 'w')\ntime.sleep(600)")
    call.wait_until_below(1)
    below = psutil.Process(call.process.pid).children(recursive=True)
    call.vanish()
    call.process.wait(timeout=500)
    assert not any(process.is_running() for process in below)
    assert not call.scratch.exists()


def test_nobody_inside_can_end_or_stop_the_supervisor(start: Any) -> None:
    call = start("""
contain_descendants()  # workers close a domain of their own, inside, as `confine` does
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
    try:
        os.kill(os.getppid(), number)
        os._exit(1)
    except PermissionError:
        pass
os.kill(-1, signal.SIGKILL)
os._exit(7)
""")
    assert call.hear() == {"status": 7}
    assert call.process.poll() is None
    assert call.scratch.exists()
