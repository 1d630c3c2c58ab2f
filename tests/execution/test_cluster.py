"""Tests of calls on the machines of a cluster, which may be lost: machines are threads, and workers are fakes."""

import itertools
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from struct import pack
from types import SimpleNamespace
from typing import Any

import pytest
from planned_things import SETTINGS, make_submission
from stage_cluster import OnStage, Threads, cluster

import harness
from harness.errors import UserError
from harness.execution.cluster import executor as module
from harness.execution.cluster import fleet
from harness.execution.cluster.machine import Machine
from harness.execution.cluster.member import ClusterMember
from harness.execution.cluster.messages import MachineDescription, MachineReport, ReadyMachine
from harness.execution.dispatch import make
from harness.execution.executor import Executor
from harness.execution.executors.ray import RayEngine, _explained
from harness.execution.order import Allowance, FinishedCall, Order
from harness.execution.plan import plan_calls
from harness.outcome import Outcome
from harness.task.hidden import Withhold
from harness.task.layout import TaskDirectory
from harness.task.task import read_tasks
from harness.testing import STAGE, ExecutorContract, Parts
from tests.throwaway import make_task

pytestmark = pytest.mark.usefixtures("four_cores", "hasty")


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the driver search for new machines, and ask silent machines again, every 0.05 s."""
    for name in ("AGAIN_S", "LOOK_S"):
        monkeypatch.setattr(fleet, name, 0.05)


class TestContract(ExecutorContract):
    def executor(self, workers: int) -> Executor:
        return cluster(Threads("one", "two"), STAGE, None, workers, print)


class Stage:
    """A cluster of machines with one lane each, its messages, and a run on it."""

    def __init__(self, *names: str) -> None:
        self.engine, self.lines, self.parts = Threads(*names), list[str](), Parts()
        self.executor: OnStage = cluster(self.engine, STAGE, None, 1, self.lines.append)
        self.done: dict[int, FinishedCall[int]] = {}

    def add(self, *orders: Order) -> None:
        self.executor.prepare(["tensorflow"])
        self.executor.add(orders, self.parts)

    def returns(self, number: int) -> list[Order]:
        return [self.parts.order(f"returns {value}") for value in range(number)]

    def until(self, is_over: Callable[[], bool]) -> None:
        end = time.monotonic() + 60.0
        while not is_over():
            assert time.monotonic() < end, self.lines
            self.step()

    def until_done(self, number: int) -> None:
        self.until(lambda: len(self.done) >= number)

    def step(self) -> None:
        if (one := self.executor.next(0.05)) is not None:
            assert one.call not in self.done
            self.done[one.call] = one

    def crash(self, order: Order, *, starts_again: bool = True) -> str:
        """Let the machine that makes the call of an order crash when the call has begun; return its name."""

        def places() -> list[str]:
            return [one.node for one in self.executor.fleet.members if order.number in one.begun_at]

        self.until(lambda: bool(places()))
        (lost,) = places()
        self.engine.processes[lost].crash(starts_again=starts_again)
        return lost

    def machines(self) -> set[str]:
        return {one.machine["machine"] for one in self.done.values()}


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage("one", "two")
    with stage.executor:
        yield stage


def test_both_machines_make_calls_and_the_record_says_which(stage: Stage) -> None:
    orders = stage.returns(12)
    stage.add(*orders)
    stage.until_done(12)
    assert [stage.done[order.number].result.value for order in orders] == list(range(12))
    assert stage.machines() == {"one", "two"}
    assert len({one.machine["machine_class"] for one in stage.done.values()}) == 1
    assert stage.executor.workers == 2


@pytest.mark.rest
@pytest.mark.parametrize("starts_again", [True, False])
def test_what_was_under_way_on_a_lost_machine_is_made_again(stage: Stage, starts_again: bool) -> None:
    slow, orders = stage.parts.order("waits", allowance=Allowance(None, 1.5, 0.0, "the limit")), stage.returns(12)
    stage.add(slow, *orders)
    lost = stage.crash(slow, starts_again=starts_again)
    stage.until_done(13)
    assert stage.done[slow.number].result.outcome is Outcome.TIMEOUT
    assert [stage.done[order.number].result.value for order in orders] == list(range(12))
    assert any(line.startswith(f"machine {lost} ") and line.endswith("made again") for line in stage.lines)
    assert stage.engine.started.count(lost) == 1 + (not starts_again)


def test_a_machine_that_leaves_and_one_that_comes(stage: Stage) -> None:
    del stage.engine.names["one"]
    stage.engine.names["three"] = None
    stage.add(*stage.returns(6))
    time.sleep(0.1)
    stage.until_done(6)
    stage.add(*stage.returns(20))
    stage.until_done(26)
    assert "three" in stage.machines()
    assert stage.engine.processes["one"].is_gone


def test_a_machine_that_comes_while_calls_return_all_the_time(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stage.executor.fleet.reports

    def with_calls(timeout_s: float) -> Iterator[tuple[ClusterMember, MachineReport]]:
        found: list[tuple[ClusterMember, MachineReport]] = []
        while not found:
            stage.executor._hand_out()
            for member, report in whole(timeout_s):
                found.append((member, report)) if report.returned else member.take(report)
        yield from found

    stage.add(*stage.returns(30))
    monkeypatch.setattr(stage.executor.fleet, "reports", with_calls)
    stage.engine.names["three"] = None
    stage.until_done(25)
    assert "three" in stage.engine.started


def test_a_run_waits_for_a_machine_where_all_are_lost(stage: Stage) -> None:
    stage.engine.names.clear()
    stage.add(*stage.returns(3))
    time.sleep(0.1)
    for _ in range(5):
        stage.step()
    stage.engine.names["another"] = None
    stage.add(*stage.returns(3))
    stage.until_done(6)
    assert "another" in stage.machines()


def test_a_machine_that_starts_again_while_the_run_waits_for_another_run_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later, now = [0.0], time.monotonic
    monkeypatch.setattr(fleet, "time", SimpleNamespace(monotonic=lambda: now() + later[0], sleep=time.sleep))
    stage = Stage("one")
    with stage.executor:
        stage.add(*stage.returns(1))
        stage.until_done(1)
        stage.engine.processes["one"].crash(starts_again=True)
        later[0] = 2 * fleet.ALONE_S
        stage.add(*stage.returns(1))
        stage.until_done(2)


@pytest.mark.rest
def test_a_call_with_which_machines_are_lost_is_given_up_in_the_end(stage: Stage) -> None:
    """Only calls that had begun count as the cause of a loss."""
    culprit, bystander = stage.parts.order("waits"), stage.parts.order("returns 1")
    stage.add(culprit)
    for time_lost in range(1, module.ATTEMPTS + 1):
        stage.crash(culprit)
        stage.until(lambda times=time_lost: stage.executor._attempts[culprit.number] >= times)
    stage.add(bystander)
    stage.until_done(2)
    given_up = stage.done[culprit.number].result
    assert given_up.outcome is Outcome.INFRA_ERROR
    assert given_up.message == "3 machines were lost while they made this call"
    assert stage.done[bystander.number].result.value == 1.0


@pytest.mark.rest
def test_the_seconds_of_a_lost_machine_are_spent(stage: Stage) -> None:
    """All calls of a time budget go to one machine. After its loss, the next machine counts the seconds spent there."""
    shared = Allowance(7, 3.0, 0.0, "the budget")
    orders = [stage.parts.order("waits", allowance=replace(shared)) for _ in range(3)]
    stage.add(*orders)
    stage.until(lambda: any(one.begun_at for one in stage.executor.fleet.members))
    time.sleep(0.5)
    stage.crash(orders[0])
    stage.until(lambda: stage.executor._attempts[orders[0].number] >= 1)
    assert stage.executor._queue.current(orders[1]).allowance.spent_s >= 0.5
    stage.until_done(3)
    assert stage.machines() in ({"one"}, {"two"})
    exceeded = [one.result for one in stage.done.values() if one.result.message.startswith("exceeded")]
    assert len(exceeded) == 1


def test_a_machine_with_another_version_gets_no_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    describe = Machine.describe

    def answer(self: Machine) -> MachineDescription:
        return replace(describe(self), **({"harness": "0.0.1"} if next(numbers) == 0 else {}))

    numbers = itertools.count()  # both machines may ask at once
    monkeypatch.setattr(Machine, "describe", answer)
    stage = Stage("one", "two")
    with stage.executor:
        stage.add(*stage.returns(4))
        stage.until_done(4)
    assert len(stage.machines()) == 1
    (line,) = stage.lines
    assert f"gets no calls: pgdl-harness: expected {harness.__version__} as here, found 0.0.1; install the same" in line


def test_where_no_machine_works_the_run_ends_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "begin", lambda *_: "no sandbox works")
    lines: list[str] = []
    with pytest.raises(UserError, match="no machine of the cluster makes calls"):
        cluster(Threads("one"), STAGE, None, 1, lines.append)
    assert lines == ["machine one gets no calls: no sandbox works"]


def test_nothing_that_is_sent_tells_names_gaps_or_places(tmp_path: Path, shared_cache: Path) -> None:
    """Reference data stay where the plan is made."""
    gaps = [0.1234567 + number / 100 for number in range(8)]
    shutil.copytree(shared_cache / "shapes", tmp_path / "shapes")
    make_task(tmp_path / "tasks", name="secret_task", gaps=gaps)
    tasks = read_tasks(TaskDirectory(tmp_path / "tasks").runnable(), Withhold.AUTO)
    engine = Threads("one", "two")
    submission = make_submission("secret_name", b"returns 1", runtime="tensorflow")
    with cluster(engine, STAGE, None, 1, print) as executor:
        calls = plan_calls([submission], tasks, SETTINGS, executor)
        assert len(list(make(executor, calls))) == 8
    sent = b"".join(engine.sent)
    assert tasks[0].models[0].digest.encode() in sent, "this is where things would be found"
    accuracies = [1.0 - gap for gap in gaps]
    numbers = [form for one in (*gaps, *accuracies) for form in (repr(one).encode(), pack("<d", one), pack(">d", one))]
    names = [b"secret_task", b"secret_name", b"model_0", b"model_7", bytes(tmp_path)]
    assert [one for one in (*numbers, *names) if one in sent] == []


def test_what_has_ended_is_told_before_the_run_ends_for_want_of_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = Machine.exchange

    def retires(self: Machine, *arguments: Any) -> MachineReport:
        report = exchange(self, *arguments)
        return replace(report, retired="stuck") if report.returned else report

    monkeypatch.setattr(Machine, "exchange", retires)
    stage = Stage("one")
    with stage.executor:
        stage.add(*stage.returns(1))
        stage.until_done(1)
        with pytest.raises(UserError, match="no machine of the cluster makes calls any more"):
            stage.step()


def test_a_machine_that_begins_again_has_no_earlier_orders() -> None:
    """After a second `begin`, a machine has no earlier orders. Otherwise it would make and count these calls twice."""
    made, parts = Machine(list), Parts()
    first, second = (made.begin(STAGE, 2**30, 1) for _ in range(2))
    assert isinstance(first, ReadyMachine)
    assert isinstance(second, ReadyMachine)
    assert first.incarnation != second.incarnation
    assert made.exchange(first.incarnation, [parts.order("returns 1")], {}, 0.1) == MachineReport(second.incarnation)
    made.end()
    assert made.prepare(["tensorflow"]) == MachineReport("")


#: What Ray says where a cluster has another Python; a client of Ray 2.52 says nothing at all to a cluster of 2.60.
MISMATCH = """Version mismatch: The cluster was started with:
    Ray: 2.60.0
    Python: 3.11.7
This process on node 192.0.2.2 was started with:
    Ray: 2.60.0
    Python: 3.12.1
"""


def test_errors_of_rays_connection_are_one_line_with_a_remedy() -> None:
    not_let_in = "the Ray cluster at {} does not let this command in; set RAY_AUTH_MODE=token if"
    for error, address, expected in (
        (RuntimeError(MISMATCH), "h:1", "another version of Ray or Python: Version mismatch: The cluster was started"),
        (ConnectionError(), "h:1", not_let_in.format("h:1")),  # another Ray
        (ConnectionError(), "auto", not_let_in.format("auto")),
        (RuntimeError("Failed to connect to Ray cluster."), "h:1", not_let_in.format("h:1")[:45]),  # no token
        (ConnectionError("Could not find any running Ray instance."), "auto", "no Ray cluster on this machine; start"),
        (ValueError("odd\nthings"), "h:1", "no connection to the Ray cluster (h:1): odd things; start one with"),
    ):
        line = str(_explained(error, address))
        assert line.startswith(expected), line
        assert "\n" not in line


def test_a_full_store_of_a_cluster_is_one_line_with_a_remedy() -> None:
    class ObjectStoreFullError(Exception):
        pass

    def put(_: object) -> None:
        raise ObjectStoreFullError("2 of 2 GB are used\nMore words.")

    errors = SimpleNamespace(ObjectStoreFullError=ObjectStoreFullError, OutOfDiskError=OSError)
    engine = RayEngine.__new__(RayEngine)
    engine._ray = SimpleNamespace(exceptions=errors, put=put)
    with pytest.raises(UserError) as refused:
        engine.put([b"data"])
    assert str(refused.value).startswith("the cluster's object store is full: 2 of 2 GB are used; give it more memory")
