"""Tests of time budgets: how the seconds of calls add up over the models of a task."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task

from harness.execution.budget import Clocks, TimeBudget
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.run import make_plan
from harness.execution.settings import RunSettings
from harness.records import Records
from harness.sandbox import Clock
from tests.records.evaluation_rows import evaluation

EACH = replace(SETTINGS, time_limit_s=10.0)
AVERAGE = replace(EACH, time_budget=TimeBudget.AVERAGE)


def planned(settings: RunSettings) -> Callable[[str, str], list[PlannedCall]]:
    """Plan the calls of two submissions with the same files on two tasks; return a function to the calls of a pair."""
    submissions, tasks = [make_submission("a"), make_submission("b")], [make_task(4, "one"), make_task(3, "two")]
    calls = plan_calls(submissions, tasks, settings, NOWHERE_TO_RUN)
    return lambda *pair: [call for call in calls if (call.submission.name, call.task.name) == pair]


def clock_of(call: PlannedCall, clocks: Clocks | None = None) -> Clock:
    """Return the clock of a call, from `clocks` or from new clocks."""
    clocks, order = clocks or Clocks(), call.order(0)
    clocks.update([order])
    return clocks.of(order)


def test_by_default_the_limit_binds_every_call_whatever_others_and_earlier_runs_used() -> None:
    call, other, *_ = planned(EACH)("a", "one")
    clocks = Clocks()
    first, second = (clock_of(one, clocks) for one in (call, other))
    assert first is not second
    assert (first.left(), first.meaning) == (10.0, "the time limit of 10 s")
    first.spend(4.0)
    call.budget.spend(9.0)
    assert clock_of(call, clocks).left() == 10.0, "made twice, it has its whole limit twice"


def test_on_average_the_models_of_a_task_share_one_clock_also_with_earlier_runs() -> None:
    calls, clocks = planned(AVERAGE), Clocks()
    pairs = [(submission, task) for submission in "ab" for task in ("one", "two")]
    shared = [{id(clock_of(call, clocks)) for call in calls(*pair)} for pair in pairs]
    assert [len(of_pair) for of_pair in shared] == [1] * 4
    assert len(set.union(*shared)) == 4, "two submissions with the same files do not share a budget"
    clock = clock_of(calls("a", "one")[0])
    assert clock.meaning == "the task's time budget of 40 s (4 models, 10 s each on average)"
    first, second, *_ = calls("a", "one")
    for seconds, left in ((0.0, 40.0), (12.5, 27.5), (7.0, 20.5)):
        first.budget.spend(seconds)
        assert [clock_of(calls(*pair)[0]).left() for pair in pairs] == pytest.approx([left, 30.0, 40.0, 30.0])
        first, second = second, first


def test_what_was_used_elsewhere_counts_once_and_can_be_given_back() -> None:
    """Each order states all seconds that were used before it, and the same order may come twice."""
    first, second, *_ = planned(AVERAGE)("a", "one")
    clocks = Clocks()
    first.budget.spend(12.0)
    clock = clock_of(first, clocks)
    clock.spend(5.0)
    assert clock_of(first, clocks).left() == pytest.approx(23.0)
    second.budget.spend(8.0)
    assert clock_of(second, clocks).left() == pytest.approx(15.0)
    second.budget.spend(-20.0)
    assert clock_of(second, clocks).left() == pytest.approx(35.0)


def test_a_repetition_takes_nothing_from_the_budget_of_the_calls_that_count(tmp_path: Path) -> None:
    arguments = [make_submission()], [make_task(10)], AVERAGE, NOWHERE_TO_RUN, 2
    with Records(str(tmp_path / "results.db")) as records:
        for call in plan_calls(*arguments):
            if call.repeat == 1:
                records.add(evaluation(key=call.key, model=call.model.id, repeat=1, call_wall_s=12.0))
        resumed = make_plan(plan_calls(*arguments), records)
    left = {call.repeat: clock_of(call).left() for call in resumed.calls}
    assert left == {0: pytest.approx(100.0), 1: pytest.approx(100.0 - 8 * 12.0), 2: pytest.approx(100.0)}
