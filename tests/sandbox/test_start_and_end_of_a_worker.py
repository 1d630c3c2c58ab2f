"""Tests of starts of a worker that fail, of its reported process ID, and of its end, which may take long."""

import errno
import os
import resource
import selectors
from collections.abc import Callable
from contextlib import suppress
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from typing import NoReturn

import pytest

from harness.outcome import CallResult, Outcome
from harness.sandbox import Call, process, zygote
from harness.sandbox.job import Job, Launch, Limits
from harness.sandbox.process import WorkerProcess
from harness.sandbox.processes import KillProgress, progress
from harness.sandbox.running_sandbox import StartError
from harness.sandbox.zygote import WorkerReport

JOB = Job(*[Path("/nowhere")] * 4)


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
    "look",
    [
        lambda left: KillProgress(left, 100, False),  # fewer and fewer
        lambda left: KillProgress(1, 100 - left, False),  # slow progress, e.g. release of much memory
        lambda _left: KillProgress(1, 100, True),  # waiting for a processor
    ],
)
def test_a_busy_machine_may_take_longer_than_the_grace(
    monkeypatch: pytest.MonkeyPatch, look: Callable[[int], KillProgress]
) -> None:
    worker, body = dying(monkeypatch, look, looks=40)
    assert worker.kill()
    assert body.closed


def test_what_is_stuck_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, body = dying(monkeypatch, lambda _left: KillProgress(1, 100, False), looks=10**9)
    assert not worker.kill()
    assert body.closed


def test_what_spins_in_the_kernel_is_given_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "KILL_LIMIT", 0.5)
    worker, _ = dying(monkeypatch, lambda _left: KillProgress(1, 100, True), looks=10**9)
    assert not worker.kill()


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
    assert _descriptors() - opened == {*kept}
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


def test_a_worker_is_reported_to_a_harness_with_many_open_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError):  # the hard limit may be lower
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    try:
        source, line = os.pipe()
        high = fcntl(source, F_DUPFD, 1024)
        os.write(line, b'{"pid": 7}\n')
        assert WorkerReport(high, None).facts == {"pid": 7}  # type: ignore[arg-type]
        for descriptor in (source, line, high):
            os.close(descriptor)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_call_that_uses_up_the_users_epoll_watches_ends_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(selectors.EpollSelector, "register", refuse)
    worker, _ = dying(monkeypatch, lambda left: KillProgress(left, 0, False), looks=2)
    assert worker.kill()
    source, line = os.pipe()
    os.write(line, b'{"pid": 7}\n')
    assert WorkerReport(source, None).facts == {"pid": 7}  # type: ignore[arg-type]
    for descriptor in (source, line):
        os.close(descriptor)


def test_descriptors_that_a_call_keeps_in_sockets_let_the_harness_send_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel compares their number with the sender's limit on open files; calls have 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr(zygote.children, "popen", lambda *_, **__: None)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (Limits().open_files, hard))
        zygote.Zygote(JOB)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
