"""The line of a measure's own code in the stack that a worker prints before the deadline."""

import subprocess
import sys

import pytest

from harness.sandbox.stack import place_in, without_worker

SAMPLE = """epoch 3
Stack (most recent call first):
  File "/venv/numpy/linalg.py", line 100 in svd
  File "/job/submission/parts/norms.py", line 12 in norm
  File "/job/submission/complexity.py", line 4 in complexity
  File "/staged/x/harness/worker/main.py", line 93 in _call
  File "<string>", line 1 in <module>
"""


def test_the_place_is_the_innermost_own_line() -> None:
    assert place_in(SAMPLE, "/job/submission") == "parts/norms.py:12"
    assert place_in(SAMPLE.replace("/job/submission/parts/norms.py", "<frozen x>"), "/job/submission") == (
        "complexity.py:4"
    )


def test_no_place_without_a_sample() -> None:
    assert place_in(SAMPLE.replace("Stack (", "Stacks ("), "/job/submission") == ""
    assert place_in(SAMPLE, "/elsewhere") == ""
    assert place_in("", "/job/submission") == ""


def test_frames_of_the_worker_are_left_out_of_the_sample_alone() -> None:
    before = '  File "/staged/x/harness/worker/main.py", line 93 in _call\n'
    shown = without_worker(before + SAMPLE)
    assert shown == before + "".join(SAMPLE.splitlines(keepends=True)[:-2])
    assert without_worker(before) == before


#: Takes many samples of a thread whose stack changes all the time, and none after the last call.
BUSY = """
import time
from harness.worker.sample import StackSample

def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)

def lists(n):
    for _ in range(n):
        yield [deep(3) for _ in range(3)]

sample = StackSample()
for _ in range(200):
    sample.take_before(0.001)
    until = time.monotonic() + 0.003
    while time.monotonic() < until:
        list(lists(5)), deep(50)
sample.take_before(0.05)
sample.cancel()
time.sleep(0.1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no sample is taken there")
def test_a_sample_harms_no_busy_call() -> None:
    done = subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("Stack (most recent call first):\n")) == (0, 200)
    assert place_in(done.stderr.replace("<string>", "/job/complexity.py"), "/job").startswith("complexity.py:")
