"""Tests of a system that has no more processes or threads, because calls started too many: the run goes on."""

import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from sandbox.usable_kinds import usable

from harness.outcome import CallResult, Outcome
from harness.sandbox import KINDS, call
from harness.sandbox.call import Call
from harness.sandbox.clock import Clock, Deadline
from harness.sandbox.job import Job, Limits
from harness.sandbox.kinds import fresh
from harness.sandbox.process import Interrupted, WorkerProcess
from harness.sandbox.running_sandbox import StartError
from harness.sandbox.zygote import WorkerReport

JOB = Job(*[Path("/nowhere")] * 4)

#: A zygote without libraries that cannot fork.
ZYGOTE = """
import errno, os
from types import SimpleNamespace
from harness.worker import zygote

def refuse():
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

os.fork = refuse
zygote.RUNTIMES = {"none": SimpleNamespace(import_libraries=lambda: None)}
zygote.main("none")
"""


def no_process(*_: Any, **__: Any) -> NoReturn:
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def no_thread(*_: Any) -> NoReturn:
    raise RuntimeError("can't start new thread")


def test_a_sandbox_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = usable(KINDS["fresh"]())
    monkeypatch.setattr(fresh.children, "popen", no_process)
    with pytest.raises(StartError, match=r"^no process can be started: Resource temporarily unavailable$"):
        WorkerProcess(kind.start, JOB, Limits(), 0)


def test_a_zygote_that_cannot_fork_says_so_and_lives_on() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        zygote = subprocess.Popen([sys.executable, "-c", ZYGOTE], stdin=theirs)
    assert json.loads(ours.recv(256)) == {"event": "ready"}
    for _ in range(2):
        source, report = os.pipe()
        socket.send_fds(ours, [b"{}"], [report] * 4)
        os.close(report)
        with pytest.raises(StartError, match=r"^no process can be forked: .* Resource temporarily unavailable$"):
            WorkerReport(source, None)  # type: ignore[arg-type]
        os.close(source)
    ours.close()
    assert zygote.wait() == 0


def test_a_call_whose_memory_cannot_be_watched_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[bool] = []
    worker = SimpleNamespace(kill=lambda: killed.append(True))
    monkeypatch.setattr(call, "WorkerProcess", lambda *_: worker)
    monkeypatch.setattr("threading.Thread.start", no_thread)
    result = Call.prepare(no_process, JOB, Limits(), 0, stopping=lambda: False)
    assert isinstance(result, CallResult)
    assert (result.outcome, result.message) == (
        Outcome.INFRA_ERROR, "the sandbox did not start: can't start new thread",
    )  # fmt: skip
    assert killed


def test_a_call_whose_time_cannot_be_watched_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    worker: Any = SimpleNamespace(sandbox=SimpleNamespace(kill=no_process))
    under_way, clock = Call(worker, Limits(), stopping=lambda: False), Clock(60.0, "the time limit")
    monkeypatch.setattr("threading.Thread.start", no_thread)
    with pytest.raises(Interrupted, match="can't start new thread"), Deadline(60.0, no_process):
        pass
    assert isinstance(under_way._timed(clock), Interrupted)
