"""Tests of the process that reads submissions: its work is bounded, and its answer is checked."""

import json
import os
from pathlib import Path

import psutil
import pytest
from submission_files import MEASURE, problem_of, write_folder

from harness.children import Child
from harness.errors import UserError
from harness.inspector.answer import MAX_LINE, READY, Answer, AnswerError, parse_answer, write_answer
from harness.inspector.files import Files, SubmissionError
from harness.inspector.folder import read_folder
from harness.inspector.limits import MAX_BYTES, MAX_FILES
from harness.inspector.main import inspect
from harness.submission import find_submission
from harness.submission import inspect as inspect_module

#: The process, reading something that never ends, or is too large, in place of a submission.
READING = """
yaml, kind, path = sys.argv[1:]
import resource, time
from harness.inspector import limits, main
def read(path, files):
    {}
inspect = main.inspect
main.inspect = lambda _, path: inspect(read, path)
main.main(kind, path)
"""
LITTLE_TIME = "resource.setrlimit(resource.RLIMIT_CPU, (1, 2))"


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    return write_folder(tmp_path, {"margin.py": MEASURE}) / "margin.py"


def answer(first: bytes = READY, **changes: object) -> bytes:
    """Return an answer about two files, with changed parts."""
    line = {
        "files": [["complexity.py", 3], ["b", 2]], "metadata": {"name": "x"}, "problem": None, "unreadable": None,
        "unknown_keys": [], "folder": "",
    }  # fmt: skip
    return first + json.dumps(line | changes).encode() + b"\nabcde"


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (f"import os\nos.write(1, {READY!r})\nwhile True: os.write(1, bytes(1 << 20))", "process sent too much"),
        (READING.format("time.sleep(600)"), "margin.py: cannot be read: reading took more than 1 s"),
        (READING.format("bytearray(1 << 30)"), "cannot be read within 512 MiB of memory"),
        (READING.format(f"{LITTLE_TIME}\n    while True: pass"), "more than 10 s of processor time"),
        (READING.format("import os; os._exit(3)"), "cannot be read: the reading process ended with status 3"),
        (READING.format("raise KeyError('x')"), "cannot be read: KeyError: 'x'"),
        (READING.format("1 / 0"), "cannot be read: ZeroDivisionError: division by zero"),
    ],
)
def test_what_goes_wrong_there_is_a_problem_of_the_submission(program, problem, submission, monkeypatch):
    monkeypatch.setattr("harness.submission.inspect.READ", program)
    if "sleep" in program:
        monkeypatch.setattr("harness.submission.inspect.WALL_S", 1.0)
    assert problem in problem_of(submission)


def test_a_process_that_does_not_end_is_not_waited_for(submission, monkeypatch):
    lasting = f"import os, time\nos.write(1, {READY!r})\nos.close(1)\ntime.sleep(600)"
    monkeypatch.setattr(inspect_module, "READ", lasting)
    receive = inspect_module._receive

    def received(process: Child) -> bytes:
        content = receive(process)
        monkeypatch.setattr(inspect_module, "WALL_S", 0.1)
        return content

    monkeypatch.setattr(inspect_module, "_receive", received)
    assert problem_of(submission) == "margin.py: cannot be read: the reading process does not end"


def test_what_the_process_leaves_behind_is_not_waited_for(submission, monkeypatch):
    forked = f"import os, time\nos.write(1, {READY!r})\nos.close(2)\nif os.fork() == 0: time.sleep(60)"
    monkeypatch.setattr("harness.submission.inspect.READ", forked)
    monkeypatch.setattr("harness.submission.inspect.WALL_S", 1.0)
    assert problem_of(submission) == "margin.py: cannot be read: reading took more than 1 s"
    left = [one for one in psutil.process_iter(["cmdline"]) if str(submission) in (one.info["cmdline"] or [])]
    assert left
    for process in left:
        process.kill()


def test_a_process_that_does_not_start_is_no_fault_of_the_submission(submission, monkeypatch):
    monkeypatch.setattr("harness.submission.inspect.READ", "raise SystemExit('no YAML here')")
    with pytest.raises(RuntimeError, match="did not start: status 1\nno YAML here"):
        find_submission(str(submission))


def test_the_process_gets_nothing_of_the_environment(submission, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    looking = READING.format("raise ValueError(open('/proc/self/environ').read() or 'nothing')")
    monkeypatch.setattr("harness.submission.inspect.READ", looking)
    assert "hunter2" not in problem_of(submission)


@pytest.mark.parametrize(
    "content",
    [
        b"", READY, b"noise", READY + b"noise",
        answer(b"\nready\n"), answer(READY.upper()), answer()[:-1], answer() + b"f", READY + b"[" * 100_000 + b"\n",
        READY + b" " * (MAX_LINE + 1) + b"\n", READY + b'{"files": [["a", 1' + b"0" * 5000 + b"]]}\n",
        answer(files=[["complexity.py", 3]]), answer(files=[["complexity.py", 3], ["complexity.py", 2]]),
        answer(files=[["complexity.py", 3], ["complexity.py/b", 2]]), answer(files=[["complexity.py", 6], ["b", -1]]),
        answer(files=[["complexity.py", 4.0], ["b", True]]), answer(files=[["complexity.py", 3], ["../b", 2]]),
        answer(files=[["complexity.py", 3], ["/b", 2]]), answer(files=[["complexity.py", 3], ["b\0", 2]]),
        answer(files=[["complexity.py", 3], ["b/", 2]]), answer(files=[["complexity.py", 3], [7, 2]]),
        answer(files=[["complexity.py", 5], *([str(n), 0] for n in range(MAX_FILES))]),
        answer(files={"complexity.py": 5}), answer(metadata={"name": 7}), answer(metadata={"keras": "7"}),
        answer(metadata={"command": "sh"}), answer(metadata=[]), answer(problem=["x"]), answer(problem="x" * 1000),
        answer(unreadable=["x"]), answer(unknown_keys=["x" * 41]), answer(unknown_keys=[1]), answer(folder=None),
        answer(folder="../x"), answer(folder="x\x1b"),
    ],
)  # fmt: skip
def test_an_answer_is_taken_as_a_whole_or_not_at_all(content):
    with pytest.raises(AnswerError):
        parse_answer(content)


def test_an_answer_is_what_was_read(tmp_path):
    assert parse_answer(answer()) == Answer({"complexity.py": b"abc", "b": b"de"}, {"name": "x"})
    said = Answer({"complexity.py": b"\n\0", "ü": b""}, {"keras": "2"}, "\ufffd is odd", None, ("a", "b"), "mine")
    with (tmp_path / "answer").open("wb") as stream:
        stream.write(READY)
        write_answer(said, stream)
    assert parse_answer((tmp_path / "answer").read_bytes()) == said


def test_a_file_that_grows_while_it_is_read_has_an_end():
    class Growing:
        def read(self, size: int) -> bytes:
            return bytes(size)

    files = Files()
    with pytest.raises(SubmissionError, match=r"^log: expected at most 50 MiB in all, found more$"):
        files.read("log", Growing())  # type: ignore[arg-type]
    assert files._bytes == MAX_BYTES + 1, "no byte more was read"


def test_what_the_system_refuses_is_for_whoever_runs_the_harness(tmp_path, monkeypatch):
    """Root can read every file, so the test simulates the refusal."""
    folder = write_folder(tmp_path / "margin", {"complexity.py": MEASURE, "lib/data": b""})

    def refuse(name: str, *arguments: object, **options: object) -> int:
        if name == "data":
            raise PermissionError(13, "Permission denied")
        return opened(name, *arguments, **options)  # type: ignore[call-overload, no-any-return]

    opened = os.open
    monkeypatch.setattr(os, "open", refuse)
    found = inspect(read_folder, str(folder))
    assert found == Answer({}, {}, unreadable=("lib/data", "Permission denied"))
    monkeypatch.setattr("harness.submission.inspect._ask", lambda kind, path: found)
    with pytest.raises(UserError) as error:
        find_submission(str(folder))
    assert str(error.value) == f"{folder}/lib/data: cannot be read: Permission denied"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("what", ["margin.py", "margin.zip", "margin", "margin/lib", "."])
def test_what_may_not_be_read(what, tmp_path):
    write_folder(tmp_path / "locked", {"margin.py": MEASURE, "margin.zip": b"", "margin/lib/a.py": b""})
    locked = tmp_path / "locked" / what
    locked.chmod(0)
    argument = locked / "margin.py" if what == "." else tmp_path / "locked" / what.removesuffix("/lib")
    try:
        with pytest.raises(UserError, match="cannot be read: Permission denied") as error:
            find_submission(str(argument))
    finally:
        locked.chmod(0o700)
    assert what == "." or str(error.value).startswith(f"{locked}: ")


def test_an_argument_that_no_path_can_be():
    for argument in ("x" * 5000, "a\0b"):
        with pytest.raises(UserError, match="no such file, directory, zip or measure"):
            find_submission(argument)


def test_it_works_from_a_folder_that_is_gone(submission, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert find_submission(str(submission)).problem is None
