"""How the seconds of the time limit add up over the models of a task."""

from dataclasses import replace

import pytest
from planned_things import SETTINGS, make_submission, make_task

from harness.execution.budget import TimeBudget
from harness.execution.plan import PlannedCall, plan_calls
from harness.execution.run import Clocks, Recorded
from harness.sandbox.outcome import Outcome

EACH = replace(SETTINGS, time_limit_s=10.0)
AVERAGE = replace(EACH, time_budget=TimeBudget.AVERAGE)

CALLS = plan_calls(
    [make_submission("a", b"a"), make_submission("b", b"b")], [make_task(4, "one"), make_task(3, "two")], AVERAGE
)


def calls_of(submission: str, task: str) -> list[PlannedCall]:
    return [call for call in CALLS if (call.submission.name, call.task.name) == (submission, task)]


def test_by_default_the_limit_binds_every_call() -> None:
    clocks = Clocks(CALLS, [], EACH)
    first, second = (clocks.clock(call) for call in CALLS[:2])
    assert first is not second
    assert (first.left(), first.meaning) == (10.0, "the time limit of 10 s")


def test_on_average_the_models_of_a_task_share_one_clock() -> None:
    clocks = Clocks(CALLS, [], AVERAGE)
    shared = {
        (submission, task): {id(clocks.clock(call)) for call in calls_of(submission, task)}
        for submission in "ab"
        for task in ("one", "two")
    }
    assert all(len(clocks_of_pair) == 1 for clocks_of_pair in shared.values())
    assert len(set.union(*shared.values())) == 4
    clock = clocks.clock(calls_of("a", "one")[0])
    assert clock.left() == pytest.approx(40.0)
    assert clock.meaning == "the task's time budget of 40 s (4 models, 10 s each on average)"
    assert clocks.clock(calls_of("a", "two")[0]).left() == pytest.approx(30.0)


def test_what_earlier_runs_used_is_used() -> None:
    first, second, third, _ = calls_of("a", "one")
    clocks = Clocks(CALLS, [Recorded(first, Outcome.OK, 12.5), Recorded(second, Outcome.CRASH, 7.0)], AVERAGE)
    assert clocks.clock(third).left() == pytest.approx(20.5)
    assert clocks.clock(calls_of("b", "one")[0]).left() == pytest.approx(40.0)
    assert clocks.clock(calls_of("a", "two")[0]).left() == pytest.approx(30.0)


def test_what_earlier_runs_used_takes_nothing_from_a_limit_for_every_call() -> None:
    call = CALLS[0]
    assert Clocks(CALLS, [Recorded(call, Outcome.OK, 9.0)], EACH).clock(call).left() == 10.0


def test_two_submissions_with_the_same_files_do_not_share_a_budget() -> None:
    twins = plan_calls([make_submission("mine"), make_submission("theirs")], [make_task(4)], AVERAGE)
    clocks = Clocks(twins, [], AVERAGE)
    mine, theirs = clocks.clock(twins[0]), clocks.clock(twins[-1])
    assert mine is not theirs
    assert (mine.left(), theirs.left()) == (pytest.approx(40.0), pytest.approx(40.0))
