"""Tests of parallel calls on this machine, without a sandbox and TensorFlow: workers are threads with fake calls.

The contract has the tests that every executor passes.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planned_things import SETTINGS, make_submission, make_task

from harness.api.calls import Run, record_calls
from harness.errors import UserError, Warn
from harness.execution import machine
from harness.execution.budget import TimeBudget
from harness.execution.dispatch import make
from harness.execution.executor import Executor
from harness.execution.executors.local import Local
from harness.execution.machine import Cores
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.run import CallSummary
from harness.execution.settings import RunSettings
from harness.outcome import CallResult, Outcome
from harness.records import Records
from harness.sandbox import Kind, Launch, Limits, SandboxChoice, Staging, clock
from harness.sandbox.process import WorkerProcess
from harness.sandbox.running_sandbox import LostError
from harness.task.model import Model
from harness.testing import STAGE, Actors, ExecutorContract
from harness.testing.actors import Actor
from pgdl import Progress

pytestmark = pytest.mark.usefixtures("four_cores", "unstaged")

QUICK = replace(SETTINGS, limits=Limits(startup_s=60.0, output_bytes=2**20))


class Given(SandboxChoice):
    def __init__(self, kind: Kind) -> None:
        object.__setattr__(self, "given", kind)

    def kind(self, warn: Warn) -> Kind:
        return self.given


def local_with(kind: Kind, workers: int) -> Local:
    return Local(Given(kind), None, workers, print)


class TestContract(ExecutorContract):
    def executor(self, workers: int) -> Executor:
        return Local(STAGE, None, workers, print)


@pytest.fixture
def kind() -> Actors:
    return Actors()


@pytest.fixture
def local(kind: Actors) -> Iterator[Local]:
    with local_with(kind, workers=2) as executor:
        yield executor


def plan(
    local: Local, *texts: str, models: int = 1, settings: RunSettings = QUICK, baselines: bool = False
) -> list[PlannedCall]:
    """Return planned calls of submissions, each with one of `texts` as its file."""
    submissions = [make_submission(f"s{number}", text.encode()) for number, text in enumerate(texts)]
    if baselines:
        submissions = [replace(submission, is_baseline=True) for submission in submissions]
    return plan_calls(submissions, [make_task(models)], settings, local)


def test_no_more_calls_are_under_the_clock_than_there_are_workers(local: Local, kind: Actors) -> None:
    done = list(make(local, plan(local, "returns 1", models=12)))
    assert (kind.most_at_once, len(kind.started)) == (2, 12)
    assert {one.machine["threads"] for one in done} == {"1"}
    assert done[0].result.environment == {"stage": "here", "device": "stage"}


def test_calls_that_were_not_made_say_so_and_have_no_times_of_an_earlier_call_in_their_sandbox(local: Local) -> None:
    def results(*texts: str) -> list[CallResult]:
        done = {one.call.submission.name: one.result for one in make(local, plan(local, *texts, baselines=True))}
        return [done[name] for name in ("s0", "s1")]

    assert results("does not start", "returns 1")[0].outcome is Outcome.INFRA_ERROR
    made, failed = results("returns 1", "fails to load")
    assert failed.outcome is Outcome.INFRA_ERROR
    assert (failed.call_wall_s, failed.call_cpu_s, failed.load_wall_s) == (0.0, 0.0, 0.0)
    assert made.call_wall_s > 0
    assert failed.environment == made.environment


def test_an_error_of_the_harness_reaches_whoever_waits(local: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Model, directory: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Model, "write_canonical", fail)
    with pytest.raises(UserError, match="cannot be staged: No space left on device"):
        list(make(local, plan(local, "returns 1")))


def test_a_core_is_free_as_soon_as_a_call_is_killed(kind: Actors, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one core, the next call starts while the harness still waits for the end of the killed call."""
    first_ends, second_starts = threading.Event(), threading.Event()
    start, wait = Actors.start, WorkerProcess._wait_until_gone

    def started(self: Actors, *arguments: Any) -> Any:
        if kind.started:
            second_starts.set()
        return start(self, *arguments)

    def waited(self: WorkerProcess) -> bool:
        if not first_ends.is_set():
            first_ends.set()
            assert second_starts.wait(240)
        return wait(self)

    monkeypatch.setattr(machine, "available_cores", lambda: 1)
    monkeypatch.setattr(Actors, "start", started)
    monkeypatch.setattr(WorkerProcess, "_wait_until_gone", waited)
    with local_with(kind, workers=1) as local:
        done = list(make(local, plan(local, "returns 1", models=2)))
    assert [one.result.value for one in done] == [1.0, 1.0]


def test_imports_begin_before_they_are_waited_for_and_once(kind: Actors) -> None:
    with local_with(kind, workers=1) as local:
        local.expect(["tensorflow"])
        assert (kind.expected, kind.prepared) == (["tensorflow"], [])
        for _ in range(2):
            list(make(local, plan(local, "returns 1")))
            local.expect(["tensorflow"])
            assert (kind.expected, kind.prepared) == (["tensorflow"], ["tensorflow"])
        list(make(local, plan(local, "returns 1", settings=replace(QUICK, runtime="keras2"))))
        assert kind.prepared == ["tensorflow", "keras2"]
        assert not kind.closed
    assert kind.closed


def test_staged_copies_outlive_a_plan(local: Local, kind: Actors) -> None:
    for _ in range(2):
        list(make(local, plan(local, "returns 1")))
    first, second = kind.started
    assert first.job.directories == second.job.directories
    assert all(directory.is_dir() for directory in first.job.directories)


def test_cores_are_waited_for() -> None:
    cores, order = Cores(3), list[str]()

    def work() -> None:
        with cores.take(2):
            order.append("work")

    with cores.take(2):
        thread = threading.Thread(target=work)
        thread.start()
        with cores.take(1):
            order.append("fits beside")
        time.sleep(0.01)
        order.append("done")
    thread.join()
    assert order == ["fits beside", "done", "work"]


def write_mebibyte(directory: Path) -> None:
    (directory / "weights").write_bytes(b"x" * 2**20)


def test_copies_that_nobody_uses_go_when_there_are_too_many_bytes_and_others_stay() -> None:
    with Staging(kept_bytes=2**20) as staging:
        with staging.hold("a", write_mebibyte) as a, staging.hold("b", write_mebibyte) as b:
            assert (a.is_dir(), b.is_dir()) == (True, True)
        assert [path.is_dir() for path in (a, b)].count(True) == 1
    with Staging(kept_bytes=0) as staging:
        with staging.hold("a", write_mebibyte) as first:
            for key in "bcd":
                with staging.hold(key, write_mebibyte) as other:
                    pass
                assert not other.exists()
            with staging.hold("a", write_mebibyte) as again:
                assert again == first
            assert first.is_dir()
        assert not first.exists()


class Listener(Progress):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def warn(self, line: str) -> None:
        self.heard.append(line)


@pytest.mark.parametrize("is_paused", [True, False])
def test_a_pause_of_the_harness_is_said_and_the_call_made_again_once(
    local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_paused: bool
) -> None:
    if is_paused:
        monkeypatch.setattr(clock, "PAUSE_S", -1.0)  # every call is found to be paused
    settings, listener = replace(QUICK, time_budget=TimeBudget.AVERAGE, time_limit_s=60.0), Listener()
    with Records(str(tmp_path / "r.db")) as records:
        record_calls(Run([make_submission("mine", b"returns 1")], [make_task(2)], settings, local), records, listener)
        rows = [(row.outcome, row.message.partition(" for ")[0]) for row in records.whole_of()]
    assert rows == 2 * [("INFRA_ERROR", "the harness was stopped") if is_paused else ("OK", "")]
    warnings = [line for line in listener.heard if "again" in line]
    assert len(warnings) == (2 if is_paused else 0)
    assert all(line.endswith(" s during the call; the call is made again") for line in warnings)


def test_a_call_that_has_lost_its_worker_uses_up_no_time_budget() -> None:
    class Lost(Actor):
        def exit_status(self) -> int | None:
            raise LostError("the process that watches the worker has ended")

    class Losing(Actors):
        def start(self, launch: Launch) -> Actor:
            return Lost(self, launch)

    settings = replace(QUICK, time_budget=TimeBudget.AVERAGE, time_limit_s=60.0)
    with local_with(Losing(), workers=1) as local:
        (done,) = make(local, plan(local, "exits 3", settings=settings))
        assert (done.result.interrupted, done.result.call_wall_s) == (True, 0.0)
        assert local._clocks.of(done.call.order()).left() == 60.0


def test_an_interrupt_while_a_row_is_shown_ends_the_workers_before_the_kind_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Watched(Actors):
        def close(self) -> None:
            self.all_gone = all(actor.is_gone() for actor in self.started)

    class Impatient(Progress):
        def advanced(self, call: CallSummary) -> None:
            raise KeyboardInterrupt

    before, kind = set(threading.enumerate()), Watched()
    local = local_with(kind, workers=2)
    submissions = [make_submission("quick", b"returns 1"), make_submission("slow", b"waits")]
    with Records(str(tmp_path / "r.db")) as records, pytest.raises(KeyboardInterrupt), local:
        record_calls(Run(submissions, [make_task(3)], QUICK, local), records, Impatient())
    assert kind.all_gone
    assert not [thread for thread in {*threading.enumerate()} - before if thread.name.startswith("sandbox-")]
