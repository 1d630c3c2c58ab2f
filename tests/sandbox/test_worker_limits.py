"""Tests of a worker's end of the control channel, its limits on itself, and its messages on refusals."""

import errno
import json
import os
import resource
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.worker import refusals
from harness.worker.channel import MAX_FRAME, Channel
from harness.worker.refusals import NETWORK, PROGRAM, SYSTEM_CALL, refusal

ROOT = Path(__file__).parents[2]

LIMITED = """
import json, resource, sys
from harness.worker.limits import apply_limits

resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
apply_limits(processes=64, open_files=1024, file_bytes=4096, memory_bytes=2**30)
names = ("NPROC", "NOFILE", "FSIZE", "CORE", "MEMLOCK")
limits = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names}
try:
    with open(sys.argv[1], "wb") as file:
        file.write(b"x" * 5000)
except OSError as error:
    limits["too large a file"] = error.strerror
print(json.dumps(limits))
"""

ORPHAN = """
import os, sys
from harness.worker.limits import die_with_parent

ready, write = os.pipe()
if os.fork() == 0:
    die_with_parent()
    os.write(write, b"x")
    sys.stdin.read()  # of a pipe that nobody closes before this test has seen it die
os.read(ready, 1)
print("ready", flush=True)
sys.stdin.read()
"""


def test_limits_are_hard_and_never_above_what_was_allowed_before(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, tmp_path / "file"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    _, most_processes = resource.getrlimit(resource.RLIMIT_NPROC)
    processes = 64 if most_processes == resource.RLIM_INFINITY else min(64, most_processes)
    assert json.loads(done.stdout) == {
        "NPROC": [processes, processes],
        "NOFILE": [100, 100],
        "FSIZE": [4096, 4096],
        "CORE": [0, 0],
        "MEMLOCK": [0, 0],
        "too large a file": "File too large",
    }


def test_a_worker_dies_with_the_harness() -> None:
    alive, held_by_the_worker = os.pipe()  # its end is closed when the last process that holds it is gone
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        pass_fds=(held_by_the_worker,),
    ) as harness:  # fmt: skip
        os.close(held_by_the_worker)
        assert harness.stdout is not None
        assert harness.stdout.readline() == b"ready\n"
        assert select.select([alive], [], [], 0)[0] == []
        harness.kill()
        harness.wait()
        assert select.select([alive], [], [], 240)[0] == [alive], "the worker is still there"
    os.close(alive)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Channel]]:
    """The harness' and the worker's end of a control channel."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, Channel(theirs.fileno(), theirs.fileno())


def test_a_frame_is_one_line_of_json_of_a_bounded_length(ends: tuple[socket.socket, Channel]) -> None:
    harness, worker = ends
    worker.send(event="result", status="EXCEPTION", message="two\nlines")
    line = harness.recv(MAX_FRAME)
    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
    assert json.loads(line) == {"event": "result", "status": "EXCEPTION", "message": "two\nlines"}
    text = "x" * (MAX_FRAME - len(b'{"message": ""}\n'))
    worker.send(message=text)
    assert len(harness.recv(2 * MAX_FRAME)) == MAX_FRAME
    with pytest.raises(ValueError, match=f"frame of {MAX_FRAME + 1} bytes, at most {MAX_FRAME} allowed"):
        worker.send(message=text + "x")
    harness.setblocking(False)
    with pytest.raises(BlockingIOError):
        harness.recv(1)


def test_frames_may_arrive_in_pieces_or_together_until_the_harness_is_gone(ends: tuple[socket.socket, Channel]) -> None:
    harness, worker = ends
    harness.sendall(b'{"seed": 1}\n{"ev')
    assert worker.receive() == {"seed": 1}
    harness.sendall(b'ent": "go"}\n{"event": "stop"}\n{"seed"')
    assert worker.receive() == {"event": "go"}
    assert worker.receive() == {"event": "stop"}
    harness.close()
    with pytest.raises(EOFError, match="the harness closed the control channel"):
        worker.receive()


@pytest.fixture(autouse=True)
def confined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_is_confined", lambda: True)
    monkeypatch.setenv("MEMORY_LIMIT_BYTES", str(3 << 30))
    monkeypatch.setenv("TMPDIR", "/full")


def error_of(call: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - whatever it raises
        call()
    return raised.value


def wrapped() -> None:
    try:
        raise socket.gaierror(-3, "Temporary failure in name resolution")
    except OSError:
        raise RuntimeError("no weights") from None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (socket.gaierror(-3, "?"), NETWORK),
        (error_of(wrapped), NETWORK),
        (Exception("URL fetch failure on https://a.org"), NETWORK),
        (NotADirectoryError(errno.ENOTDIR, "no", "/dev/null/models"), f"{NETWORK}, so that Keras can download nothing"),
        (PermissionError(errno.EPERM, "no"), SYSTEM_CALL),
        (OSError(errno.EROFS, "no", "/etc/x"), "the sandbox shows the submission's own files"),
        (FileNotFoundError(errno.ENOENT, "no", "/home/anna/x"), "the sandbox shows the submission's own files"),
        (RuntimeError("can't start new thread"), "processes and threads: start fewer"),
        (BlockingIOError(errno.EAGAIN, "no"), "processes and threads: start fewer"),
        (MemoryError(), "the sandbox limits a call to 3072 MiB of memory"),
        (error_of(lambda: subprocess.run(["no-such-program"], check=False)), PROGRAM),
        (error_of(lambda: subprocess.run("no-such-program", shell=True, check=True)), PROGRAM),
        (OSError(errno.EFBIG, "no"), "MiB of files under /full"),
        (ValueError("network"), None),
        (KeyError(3), None),
        (OSError("odd"), None),
        (FileNotFoundError(errno.ENOENT, "no", 7), None),
    ],
)
def test_the_sandbox_is_named_for_its_own_refusals_alone(
    error: Exception, sentence: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = refusal(error, tmp_path)
    assert said == "" if sentence is None else sentence in said
    monkeypatch.setattr(refusals, "_is_confined", lambda: False)
    assert refusal(error, tmp_path) == ""


def test_a_file_beside_the_measure_is_found(tmp_path: Path) -> None:
    (tmp_path / "w.json").touch()
    assert "Path(__file__).parent / 'w.json'" in refusal(FileNotFoundError(errno.ENOENT, "no", "w.json"), tmp_path)
    own = FileNotFoundError(errno.ENOENT, "no", str(tmp_path / "none.json"))
    assert refusal(own, tmp_path) == ""
    written = OSError(errno.EROFS, "no", str(tmp_path / "w.json"))
    assert refusal(written, tmp_path) == " (in the sandbox only /full can be written to)"
