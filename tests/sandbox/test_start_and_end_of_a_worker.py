"""Tests of the start and the end of a worker, which may fail or take long, also on a system without more processes."""

import errno
import json
import os
import resource
import selectors
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from e2e.real_runs import wait_for
from sandbox.usable_kinds import usable

from harness.outcome import CallResult, Outcome
from harness.sandbox import KINDS, Call, call, process, zygote
from harness.sandbox.clock import Clock, Deadline
from harness.sandbox.job import Job, Launch, Limits
from harness.sandbox.kinds import fresh
from harness.sandbox.process import Interrupted, WorkerProcess
from harness.sandbox.processes import KillProgress, progress
from harness.sandbox.running_sandbox import StartError
from harness.sandbox.zygote import WorkerReport

JOB = Job(*[Path("/nowhere")] * 4)


def refuse_with(number: int) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return refuse


def no_thread(*_: object) -> NoReturn:
    raise RuntimeError("can't start new thread")


class Dying:
    """Processes that are gone after the harness has looked at them `looks` times."""

    exit_status = staticmethod(lambda: None)

    def __init__(self, sink: int, look: Callable[[int], KillProgress], looks: int) -> None:
        self._sink, self._look, self._left = os.dup(sink), look, looks
        self.kills, self.closed = 0, False
        self.processes = self

    def entries(self) -> list[str]:
        return []

    def progress(self, _entries: list[str]) -> KillProgress:
        self._left -= 1
        if self._left == 0:
            os.close(self._sink)
        return self._look(self._left)

    def kill(self) -> None:
        self.kills += 1

    def is_gone(self) -> bool:
        return self._left <= 0

    def close(self) -> None:
        self.closed = True


def dying(
    monkeypatch: pytest.MonkeyPatch, look: Callable[[int], KillProgress], looks: int
) -> tuple[WorkerProcess, Dying]:
    """Return a fake worker that is gone `looks` looks after its kill; `look` returns the progress at each look."""
    bodies: list[Dying] = []

    def start(launch: Launch) -> Dying:
        bodies.append(Dying(launch.output, look, looks))
        return bodies[0]

    monkeypatch.setattr(process, "KILL_GRACE", 0.2)
    monkeypatch.setattr(process, "PROGRESS_S", 0.02)
    monkeypatch.setattr(process, "progress", lambda entries: bodies[0].progress(entries))
    worker = WorkerProcess(start, JOB, Limits(), 0)  # type: ignore[arg-type]
    return worker, bodies[0]


@pytest.mark.parametrize(
    ("look", "looks", "limit_s", "gone"),
    [
        (lambda left: KillProgress(left, 100, False), 40, 240.0, True),
        (lambda left: KillProgress(1, 100 - left, False), 40, 240.0, True),
        (lambda _left: KillProgress(1, 100, True), 40, 240.0, True),
        (lambda _left: KillProgress(1, 100, False), 10**9, 240.0, False),
        (lambda _left: KillProgress(1, 100, True), 10**9, 0.5, False),
    ],
    ids=["fewer and fewer", "a slow release of memory", "waits for a processor", "stuck", "spins in the kernel"],
)
def test_a_busy_machine_may_take_longer_than_the_grace_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch, look: Callable[[int], KillProgress], looks: int, limit_s: float, gone: bool
) -> None:
    worker, body = dying(monkeypatch, look, looks)
    monkeypatch.setattr(process, "KILL_LIMIT", limit_s)
    assert worker.kill() is gone
    assert body.closed


def test_it_is_killed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, body = dying(monkeypatch, lambda left: KillProgress(left, 0, False), looks=2)
    assert worker.end()
    assert not body.closed, "what is known of it can still be asked"
    assert worker.kill()
    assert body.kills == 1


def test_progress_is_read_from_the_kernel() -> None:
    own = progress(["/proc/self", "/proc/0"])
    assert (own.left, own.runs) == (1, True)
    assert own.ticks > 0


def _descriptors() -> set[int]:
    return {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}


def test_a_start_that_fails_ends_although_a_process_keeps_its_output_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped zygote keeps the worker's output descriptor open for ever."""
    kept: list[int] = []

    def start(launch: Launch) -> NoReturn:
        kept.append(os.dup(launch.output))
        os.write(launch.output, b"bwrap: no such file")
        raise StartError("it did not start:")

    monkeypatch.setattr(process, "LAST_OUTPUT_S", 0.1)
    opened = _descriptors()
    with pytest.raises(StartError, match=r"^it did not start: bwrap: no such file$"):
        WorkerProcess(start, JOB, Limits(), 0)
    wait_for(lambda: _descriptors() - opened == {*kept}, "the other descriptors to be closed")
    os.close(kept[0])


def test_a_start_that_fails_with_pages_of_output_has_a_message_of_one_line() -> None:
    def start(launch: Launch) -> NoReturn:
        os.write(launch.output, b"docker: no such image\n" * 2000)
        raise StartError("it did not start:")

    result = Call.prepare(start, JOB, Limits(), 0, stopping=lambda: False)
    assert isinstance(result, CallResult)
    assert (result.outcome, "\n" in result.message) == (Outcome.INFRA_ERROR, False)
    assert result.message.startswith("the sandbox did not start: it did not start: docker: no such image docker:")
    assert len(result.message) < 1000


@contextmanager
def open_files(soft: int) -> Iterator[int]:
    """In the context, this process has another soft limit on open files; yield the hard limit."""
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError):  # the hard limit may be lower
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    yield hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


def reported(descriptor_from: int = 3) -> dict[str, Any]:
    """Return what a harness reads that has a worker's report in a descriptor of at least this number."""
    source, line = os.pipe()
    high = fcntl(source, F_DUPFD, descriptor_from)
    os.write(line, b'{"pid": 7}\n')
    try:
        return WorkerReport(high, None).facts  # type: ignore[arg-type]
    finally:
        for descriptor in (source, line, high):
            os.close(descriptor)


def test_a_worker_is_reported_to_a_harness_with_many_open_files() -> None:
    with open_files(2048):
        assert reported(1024) == {"pid": 7}


def test_a_call_that_uses_up_the_users_epoll_watches_ends_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors.EpollSelector, "register", refuse_with(errno.ENOSPC))
    worker, _ = dying(monkeypatch, lambda left: KillProgress(left, 0, False), looks=2)
    assert worker.kill()
    assert reported() == {"pid": 7}


def test_descriptors_that_a_call_keeps_in_sockets_let_the_harness_send_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel compares their number with the sender's limit on open files; calls have 1,024."""
    monkeypatch.setattr(zygote.children, "popen", lambda *_, **__: None)
    with open_files(Limits().open_files) as hard:
        zygote.Zygote(JOB)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard


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


def test_a_sandbox_does_not_start_without_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = usable(KINDS["fresh"]())
    monkeypatch.setattr(fresh.children, "popen", refuse_with(errno.EAGAIN))
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
    result = Call.prepare(refuse_with(errno.EAGAIN), JOB, Limits(), 0, stopping=lambda: False)
    assert isinstance(result, CallResult)
    assert (result.outcome, result.message) == (
        Outcome.INFRA_ERROR, "the sandbox did not start: can't start new thread",
    )  # fmt: skip
    assert killed


def test_a_call_whose_time_cannot_be_watched_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    worker: Any = SimpleNamespace(sandbox=SimpleNamespace(kill=refuse_with(errno.EAGAIN)))
    under_way, clock = Call(worker, Limits(), stopping=lambda: False), Clock(60.0, "the time limit")
    monkeypatch.setattr("threading.Thread.start", no_thread)
    with pytest.raises(Interrupted, match="can't start new thread"), Deadline(60.0, no_thread):
        pass
    assert isinstance(under_way._timed(clock), Interrupted)
