"""Tests of a repeated command: it makes only the missing calls."""

import gc
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from planned_things import NOWHERE_TO_RUN, SETTINGS, Answering, make_model, make_submission, make_task

from harness.execution.budget import Clocks, TimeBudget
from harness.execution.execute import execute
from harness.execution.order import FinishedCall, Inputs, Order
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.run import Plan, make_plan
from harness.outcome import CallResult, Outcome
from harness.records import Evaluation, Records
from harness.submission import Submission
from harness.task.task import Task
from tests.records.evaluation_rows import evaluation


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(str(tmp_path / "results.db"))


def plan(records: Records, submission: Submission, task: Task, *, force: bool = False, retry: bool = False) -> Plan:
    calls = plan_calls([submission], [task], SETTINGS, NOWHERE_TO_RUN)
    return make_plan(calls, records, force=force, retry_timeouts=retry)


def record(records: Records, call: PlannedCall, outcome: Outcome = Outcome.OK, **times: float) -> None:
    records.add(
        evaluation(
            key=call.key, submission=call.submission.name, submission_digest=call.submission.digest,
            task=call.task.name, model=call.model.id, model_digest=call.model.digest, outcome=outcome,
            **times,
        )
    )  # fmt: skip


def models(calls: list[PlannedCall]) -> list[str]:
    return sorted(call.model.id for call in calls)


def test_what_is_recorded_is_not_done_again_unless_by_force(records: Records) -> None:
    first = plan(records, make_submission(), make_task(3))
    record(records, first.calls[0])
    second = plan(records, make_submission(), make_task(3))
    assert models(second.missing) == models(first.calls[1:])
    assert [row.call.model.id for row in second.recorded] == [first.calls[0].model.id]
    forced = plan(records, make_submission(), make_task(3), force=True)
    assert (len(forced.missing), forced.recorded) == (3, ())


def test_only_failures_of_the_harness_and_on_request_timeouts_of_a_busy_machine_are_made_again(
    records: Records,
) -> None:
    """Only timeouts that had a processor for less than half of their time are repeated."""
    times = [
        *((outcome, 300.0, 299.0) for outcome in Outcome), (Outcome.TIMEOUT, 300.0, 40.0), (Outcome.TIMEOUT, 0.0, 0.0),
        (Outcome.OK, 200.0, 1.0),
    ]  # fmt: skip
    task = make_task(len(times))
    for call in plan(records, make_submission(), task).calls:
        outcome, wall, cpu = times[int(call.model.id.removeprefix("model_"))]
        record(records, call, outcome, call_wall_s=wall, call_cpu_s=cpu)
    failed, *busy = (f"model_{number}" for number in ([*Outcome].index(Outcome.INFRA_ERROR), *range(len(times))[-3:-1]))
    again = plan(records, make_submission(), task)
    assert models(again.missing) == [failed]
    assert len(again.recorded) == len(times) - 1
    retried = plan(records, make_submission(), task, retry=True)
    assert models(retried.missing) == sorted([failed, *busy]), "the latter found the budget used up"
    record(records, again.missing[0])
    assert plan(records, make_submission(), task).missing == []


def test_a_retried_timeout_is_made_once(records: Records) -> None:
    """When the run looks for calls that other runs have recorded, it must find the new record, not the old."""
    call = plan(records, make_submission(), make_task(1)).calls[0]
    record(records, call, Outcome.TIMEOUT, call_wall_s=300.0, call_cpu_s=1.0)
    made: list[str] = []

    class Starving(Answering):
        def answer(self, order: Order) -> CallResult:
            made.append(order.key)
            return CallResult(Outcome.TIMEOUT, call_wall_s=300.0, call_cpu_s=2.0)

    again = plan(records, make_submission(), make_task(1), retry=True)
    assert [row.is_starved for row in execute(again, Starving(), records, print, print)] == [True]
    assert made == [call.key]


def test_a_run_lets_an_executor_without_room_look_for_machines(records: Records) -> None:
    """A cluster that has lost all machines between two calls looks for others only in `next`."""

    class Lost(Answering):
        asked = looked = 0

        @property
        def wanted(self) -> int:
            self.asked += 1
            assert self.asked < 100, "the run only asks whether there is room"
            return int(self.looked > 2)

        def next(self, timeout_s: float) -> FinishedCall[int] | None:
            self.looked += 1
            return super().next(timeout_s)

    missing = plan(records, make_submission(), make_task(3))
    assert [row.outcome for row in execute(missing, Lost(), records, print, print)] == ["OK"] * 3


def test_two_runs_at_once_have_one_time_budget(tmp_path: Path) -> None:
    """With --time-budget average, eight calls of 15 s have 80 s together, whichever run makes them."""
    both = threading.Barrier(2, timeout=2)

    class Timed(Answering):
        def __init__(self) -> None:
            super().__init__()
            self.clocks = Clocks()

        @property
        def wanted(self) -> int:
            return int(not self.orders)

        def add(self, orders: Sequence[Order], inputs: Inputs) -> None:
            self.clocks.update(orders)
            super().add(orders, inputs)

        def answer(self, order: Order) -> CallResult:
            with suppress(threading.BrokenBarrierError):
                both.wait()
            clock = self.clocks.of(order)
            outcome, wall = (Outcome.OK, 15.0) if clock.left() >= 15 else (Outcome.TIMEOUT, clock.left())
            clock.spend(wall)
            return CallResult(outcome, 1.0 if outcome is Outcome.OK else None, call_wall_s=wall, call_cpu_s=wall)

    def run(_: int) -> list[str]:
        with Records(tmp_path / "results.db") as records:
            settings = replace(SETTINGS, time_limit_s=10.0, time_budget=TimeBudget.AVERAGE)
            calls = plan_calls([make_submission()], [make_task(8)], settings, NOWHERE_TO_RUN)
            return [row.outcome for row in execute(make_plan(calls, records), Timed(), records, print, print)]

    Records(tmp_path / "results.db")
    with ThreadPoolExecutor() as threads:
        for outcomes in threads.map(run, range(2)):
            assert Counter(outcomes) == {"OK": 5, "TIMEOUT": 3}


def test_models_that_swap_their_names_are_called_again(records: Records) -> None:
    """Records have the names of models: old records would give each model the value of another model."""
    for call in plan(records, make_submission(), make_task(2)).calls:
        record(records, call)
    swapped = make_task([make_model("model_0", "files of model_1"), make_model("model_1", "files of model_0")])
    assert models(plan(records, make_submission(), swapped).missing) == ["model_0", "model_1"]


def test_models_and_submissions_with_the_same_files_have_records_each(records: Records) -> None:
    """If two submissions had the same records, one would vanish from the board."""
    twins = make_task([make_model("model_0", "same"), make_model("model_1", "same")])
    first, second = plan(records, make_submission("mine"), twins).calls
    record(records, first)
    assert plan(records, make_submission("mine"), twins).missing == [second]
    record(records, second)
    theirs = plan(records, make_submission("theirs"), twins)
    assert len(theirs.missing) == 2
    for call in theirs.missing:
        record(records, call)
    assert sorted(row.submission for row in records.newest_of()) == ["mine", "mine", "theirs", "theirs"]


@pytest.mark.rest
def test_a_plan_keeps_none_of_the_records_in_memory(records: Records) -> None:
    """Each record may hold 16 KB of output, and there may be 100,000."""
    calls = plan(records, make_submission(), make_task(3)).calls
    for call in calls:
        record(records, call)
    resumed = plan(records, make_submission(), make_task(3))
    gc.collect()
    keys = {call.key for call in calls}
    assert len(resumed.recorded) == 3
    assert [o for o in gc.get_objects() if isinstance(o, Evaluation) and o.key in keys] == []
