"""Tests of the kernel's control groups: limits hold, and no group is left. Skipped if no group can be created."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox.cgroup import CallGroup, RunGroup, cgroup_problem
from harness.sandbox.job import MIB, Limits

PROBLEM = cgroup_problem()
pytestmark = pytest.mark.skipif(PROBLEM is not None, reason=f"no control group can be made: {PROBLEM}")

LIMITS = Limits(memory_bytes=100 * MIB, processes=12)

#: Starts twice as many children as it may, and says how many there were.
CHILDREN = """
import subprocess
children = []
try:
    while len(children) < 40:
        children.append(subprocess.Popen(["/bin/sleep", "60"]))
except OSError:
    pass
print(len(children))
for child in children:
    child.kill()
"""

HARNESS = "from harness.sandbox.cgroup import RunGroup; group = RunGroup(); print(group._path, flush=True); input()"


@pytest.fixture
def call_group() -> Iterator[CallGroup]:
    """A control group of one call; the test fails if the group is not removed."""
    run = RunGroup()
    call = run.call(LIMITS)
    yield call
    call.close()
    run.close()
    assert not run._path.exists()


def run(group: CallGroup, program: str) -> "subprocess.CompletedProcess[str]":
    """Run a Python program in the group."""
    return subprocess.run([*group.entrance, sys.executable, "-c", program], capture_output=True, text=True)


def test_what_stays_below_the_limit_is_left_alone(call_group: CallGroup) -> None:
    assert run(call_group, "held = b'x' * (20 << 20); print(len(held))").stdout == "20971520\n"
    assert not call_group.ran_out_of_memory()


def test_nothing_passes_the_memory_limit(call_group: CallGroup) -> None:
    assert run(call_group, "held = b'x' * (200 << 20); print(len(held))").returncode == -signal.SIGKILL
    assert call_group.ran_out_of_memory()


def test_all_of_a_call_ends_when_one_process_runs_out_of_memory(call_group: CallGroup) -> None:
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'b\"x\" * (200 << 20)']); print('alive')"
    done = run(call_group, program)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "")


def test_files_in_memory_count(call_group: CallGroup) -> None:
    program = "import os; file = os.memfd_create('x'); [os.write(file, bytes(1 << 20)) for _ in range(200)]"
    assert run(call_group, program).returncode == -signal.SIGKILL
    assert call_group.ran_out_of_memory()


def test_the_number_of_processes_is_limited(call_group: CallGroup) -> None:
    assert 10 < int(run(call_group, CHILDREN).stdout) < 20


def test_the_next_run_removes_what_a_killed_one_left() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as harness:
        assert harness.stdout is not None
        left = Path(harness.stdout.readline().strip())
        RunGroup().close()
        assert left.is_dir(), "it is in use"
        harness.kill()
    RunGroup().close()
    assert not left.exists()
