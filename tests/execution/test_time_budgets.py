"""Tests of time budgets: how the seconds of calls add up over the models of a task."""

from dataclasses import replace

import pytest
from planned_things import NOWHERE_TO_RUN, SETTINGS, make_submission, make_task

from harness.execution.budget import Clocks, TimeBudget
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.settings import RunSettings
from harness.sandbox import Clock

EACH = replace(SETTINGS, time_limit_s=10.0)
AVERAGE = replace(EACH, time_budget=TimeBudget.AVERAGE)


class Calls:
    """The calls of two submissions on two tasks."""

    def __init__(self, settings: RunSettings) -> None:
        submissions = [make_submission("a", b"a"), make_submission("b", b"b")]
        self.all = plan_calls(submissions, [make_task(4, "one"), make_task(3, "two")], settings, NOWHERE_TO_RUN)

    def of(self, submission: str, task: str) -> list[PlannedCall]:
        return [call for call in self.all if (call.submission.name, call.task.name) == (submission, task)]


def clock_of(call: PlannedCall, clocks: Clocks | None = None) -> Clock:
    """Return the clock of a call, from `clocks` or from new clocks."""
    clocks, order = clocks or Clocks(), call.order(0)
    clocks.update([order])
    return clocks.of(order)


def left(call: PlannedCall) -> float:
    return clock_of(call).left()


def test_by_default_the_limit_binds_every_call_whatever_others_and_earlier_runs_used() -> None:
    call, other = Calls(EACH).all[:2]
    clocks = Clocks()
    first, second = (clock_of(one, clocks) for one in (call, other))
    assert first is not second
    assert (first.left(), first.meaning) == (10.0, "the time limit of 10 s")
    first.spend(4.0)
    call.budget.spend(9.0)
    assert clock_of(call, clocks).left() == 10.0, "made twice, it has its whole limit twice"


def test_on_average_the_models_of_a_task_share_one_clock() -> None:
    calls, clocks = Calls(AVERAGE), Clocks()
    shared = {
        (submission, task): {id(clock_of(call, clocks)) for call in calls.of(submission, task)}
        for submission in "ab"
        for task in ("one", "two")
    }
    assert all(len(clocks_of_pair) == 1 for clocks_of_pair in shared.values())
    assert len(set.union(*shared.values())) == 4
    clock = clock_of(calls.of("a", "one")[0])
    assert clock.left() == pytest.approx(40.0)
    assert clock.meaning == "the task's time budget of 40 s (4 models, 10 s each on average)"
    assert left(calls.of("a", "two")[0]) == pytest.approx(30.0)


def test_what_earlier_runs_used_is_used() -> None:
    calls = Calls(AVERAGE)
    first, second, third, _ = calls.of("a", "one")
    first.budget.spend(12.5)
    second.budget.spend(7.0)
    assert left(third) == pytest.approx(20.5)
    assert left(calls.of("b", "one")[0]) == pytest.approx(40.0)
    assert left(calls.of("a", "two")[0]) == pytest.approx(30.0)


def test_what_was_used_elsewhere_counts_once_and_can_be_given_back() -> None:
    """Each order states all seconds that were used before it, and the same order may come twice."""
    first, second, *_ = Calls(AVERAGE).of("a", "one")
    clocks = Clocks()
    first.budget.spend(12.0)
    clock = clock_of(first, clocks)
    clock.spend(5.0)
    assert clock_of(first, clocks).left() == pytest.approx(23.0)
    second.budget.spend(8.0)
    assert clock_of(second, clocks).left() == pytest.approx(15.0)
    second.budget.spend(-20.0)
    assert clock_of(second, clocks).left() == pytest.approx(35.0)


def test_two_submissions_with_the_same_files_do_not_share_a_budget() -> None:
    submissions = [make_submission("mine"), make_submission("theirs")]
    twins = plan_calls(submissions, [make_task(4)], AVERAGE, NOWHERE_TO_RUN)
    clocks = Clocks()
    mine, theirs = clock_of(twins[0], clocks), clock_of(twins[-1], clocks)
    assert mine is not theirs
    assert (mine.left(), theirs.left()) == (pytest.approx(40.0), pytest.approx(40.0))
