"""Tests of a worker's report of an error in a submission, and of the line that a call had reached."""

import importlib
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.sandbox.stack import place_in, without_worker
from harness.worker.failure import MESSAGE, advise, print_error
from harness.worker.runtimes import RUNTIMES

KERAS_2 = RUNTIMES["keras2"]  # has no advice of its own


def error_of(source: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> BaseException:
    """Import a submission as a worker does, and return the error."""
    (directory / "failing.py").write_text(source)
    monkeypatch.syspath_prepend(directory)
    monkeypatch.delitem(sys.modules, "failing", raising=False)
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - whatever the submission raises
        importlib.import_module("failing")
    return raised.value


def test_a_missing_package_is_named_with_what_to_do(tmp_path, monkeypatch):
    error = error_of("import no_such_package.part", tmp_path, monkeypatch)
    told = advise(error, KERAS_2, tmp_path)
    assert told.startswith("ModuleNotFoundError: No module named 'no_such_package' (no file of the submission")
    assert told.endswith("install one where pgdl runs, or ask the organiser; pgdl help submissions#packages)")
    assert len(told) <= MESSAGE
    cured = advise(error, SimpleNamespace(advice=lambda *_: " (cured)"), tmp_path)
    assert cured.endswith("'no_such_package' (cured)"), "advice of the runtime comes first"


@pytest.mark.parametrize(
    "source", ["import json.no_such", "raise ModuleNotFoundError('mine')", "from json import nothing", "1 / 0"]
)
def test_no_other_error_is_a_missing_package(source, tmp_path, monkeypatch):
    assert "install" not in advise(error_of(source, tmp_path, monkeypatch), KERAS_2, tmp_path)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("import no_such_package", 'Traceback (most recent call last):\n  File "{}/failing.py", line 1, in <module>\n'),
        ("def complexity(:", '  File "{}/failing.py", line 1\n'),
    ],
)
def test_the_traceback_begins_in_the_submission(source, shown, tmp_path, monkeypatch, capsys):
    print_error(error_of(source, tmp_path, monkeypatch), __file__, tmp_path)
    printed = capsys.readouterr().err
    assert printed.startswith(shown.format(tmp_path))
    assert "importlib" not in printed


def shown_of(source: str, directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the printed traceback of a submission. Its source may contain @SECRET@, @OWN@ and @DIR@ for paths."""
    secret, submission = directory / "secret", directory / "submission"
    secret.write_text("0123 the first line\n")
    submission.mkdir()
    for name, path in {"@SECRET@": secret, "@OWN@": submission / "failing.py", "@DIR@": submission}.items():
        source = source.replace(name, str(path))
    print_error(error_of(source, submission, monkeypatch), __file__, submission)
    return capsys.readouterr().err


@pytest.mark.parametrize(
    "source",
    [
        "exec(compile('1 / 0', '@SECRET@', 'exec'))",
        "exec(compile('1 / 0', '@DIR@/../secret', 'exec'))",
        "exec(compile(open('@SECRET@').read(), '@SECRET@', 'exec'))",
        "exec(compile(open('@SECRET@').read(), '@OWN@', 'exec'))",
        "exec(open('@SECRET@').read())",
        "raise SyntaxError('odd', ('@OWN@', 'x', 0, open('@SECRET@').read()))",
        "raise SyntaxError('odd', (object(), 1, 0, open('@SECRET@').read()))",
        "try:\n  exec(compile('1 / 0', '@SECRET@', 'exec'))\nexcept ValueError: pass\nfinally:\n  raise KeyError",
        "try:\n  exec(compile('1 / 0', '@SECRET@', 'exec'))\nexcept Exception as e:\n  raise ExceptionGroup('', [e])",
        "import linecache\nlinecache.cache['@OWN@'] = (1, None, open('@SECRET@').readlines() * 9, '@OWN@')\n1 / 0",
        "__file__ = '@SECRET@'\nexec(compile('1 / 0', __file__, 'exec'))",
        "def f(): pass\nf.__code__ = compile('1 / 0', 'x', 'exec').replace(co_filename='@SECRET@\\0')\nf()",
    ],
)
def test_no_line_of_another_file_is_shown(source, tmp_path, monkeypatch, capsys):
    shown = shown_of(source, tmp_path, monkeypatch, capsys)
    assert "the first line" not in shown
    assert any(name in shown for name in ("Error: ", "KeyError"))


def test_a_frame_of_another_file_keeps_its_name_and_number(tmp_path, monkeypatch, capsys):
    shown = shown_of("import json\njson.loads('x')", tmp_path, monkeypatch, capsys).splitlines()
    assert shown[1].endswith('failing.py", line 2, in <module>')
    assert shown[2].strip() == "json.loads('x')"
    frames = [(line, after) for line, after in pairwise(shown) if "json/decoder.py" in line]
    assert frames
    assert all(after.startswith('  File "') or after.startswith("json.") for _, after in frames)


SAMPLE = """epoch 3
Stack (most recent call first):
  File "/venv/numpy/linalg.py", line 100 in svd
  File "/job/submission/parts/norms.py", line 12 in norm
  File "/job/submission/complexity.py", line 4 in complexity
  File "/staged/x/harness/worker/main.py", line 93 in _call
  File "<string>", line 1 in <module>
"""


@pytest.mark.parametrize(
    ("sample", "directory", "place"),
    [
        (SAMPLE, "/job/submission", "parts/norms.py:12"),
        (SAMPLE.replace("/job/submission/parts/norms.py", "<frozen x>"), "/job/submission", "complexity.py:4"),
        (SAMPLE.replace("Stack (", "Stacks ("), "/job/submission", ""),
        (SAMPLE, "/elsewhere", ""),
        ("", "/job/submission", ""),
    ],
)
def test_the_place_is_the_innermost_own_line(sample, directory, place):
    assert place_in(sample, directory) == place


def test_frames_of_the_worker_are_left_out_of_the_sample_alone():
    before = '  File "/staged/x/harness/worker/main.py", line 93 in _call\n'
    shown = without_worker(before + SAMPLE)
    assert shown == before + "".join(SAMPLE.splitlines(keepends=True)[:-2])
    assert without_worker(before) == before


@pytest.mark.timeout(60)
def test_a_long_line_that_a_submission_prints_delays_nobody():
    """A search whose time grows with the square of the length would take five minutes."""
    long = SAMPLE.splitlines()[1] + '\n  File "' + 64_000 * "/harness/worker/"
    assert without_worker(long) == long


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
for _ in range(100):
    sample.take_before(0.001)
    until = time.monotonic() + 0.003
    while time.monotonic() < until:
        list(lists(5)), deep(50)
sample.take_before(0.05)
sample.cancel()
time.sleep(0.1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no sample is taken there")
def test_a_sample_harms_no_busy_call():
    done = subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("Stack (most recent call first):\n")) == (0, 100)
    assert place_in(done.stderr.replace("<string>", "/job/complexity.py"), "/job").startswith("complexity.py:")
