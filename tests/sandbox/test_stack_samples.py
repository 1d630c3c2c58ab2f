"""The line of a measure's own code in the sample of the stacks that a worker prints before the deadline."""

from harness.sandbox.stack import place_in, without_worker

SAMPLE = """epoch 3
Timeout (0:00:39.500000)!
Thread 0x00007f02 (most recent call first):
  File "/usr/lib/python3/threading.py", line 1012 in run
  File "/job/submission/helpers.py", line 9 in watch

Thread 0x00007f01 (most recent call first):
  File "/venv/numpy/linalg.py", line 100 in svd
  File "/job/submission/parts/norms.py", line 12 in norm
  File "/job/submission/complexity.py", line 4 in complexity
  File "/staged/x/harness/worker/main.py", line 93 in _call
  File "<string>", line 1 in <module>
"""


def test_the_place_is_the_innermost_own_line_of_the_main_thread() -> None:
    assert place_in(SAMPLE, "/job/submission") == "parts/norms.py:12"
    assert place_in(SAMPLE.replace("/job/submission/parts/norms.py", "<frozen x>"), "/job/submission") == (
        "complexity.py:4"
    )
    only_in_another_thread = SAMPLE.replace("/job/submission/parts", "/x").replace("/job/submission/complexity", "/x")
    assert place_in(only_in_another_thread, "/job/submission") == "helpers.py:9"


def test_no_place_without_a_sample() -> None:
    assert place_in(SAMPLE.replace("Timeout (", "Time ("), "/job/submission") == ""
    assert place_in(SAMPLE, "/elsewhere") == ""
    assert place_in("", "/job/submission") == ""


def test_frames_of_the_worker_are_left_out_of_the_sample_alone() -> None:
    before = '  File "/staged/x/harness/worker/main.py", line 93 in _call\n'
    shown = without_worker(before + SAMPLE)
    assert shown == before + "".join(SAMPLE.splitlines(keepends=True)[:-2])
    assert without_worker(before) == before
