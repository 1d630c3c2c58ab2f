"""Tests of the forecast of costs that `pgdl compare` prints before many calls."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from kept_notes import Notes

from harness.api import comparison_costs
from harness.api.calls import Run
from harness.api.comparison_costs import note_costs
from harness.api.costs import Timed
from harness.execution.plan import plan_calls
from harness.execution.run import Plan
from harness.outcome import CallResult, Outcome
from harness.submission import find_baseline
from harness.task.data import TrainingData
from harness.task.hidden import Withhold
from harness.task.task import Task
from tests.execution.planned_things import NOWHERE_TO_RUN, SETTINGS, make_task


def took(seconds: float) -> CallResult:
    return CallResult(Outcome.OK, 1.0, call_wall_s=seconds)


def time_passes(run: Run) -> tuple[Timed, ...]:
    """Return times as if a forward pass of 8 examples took 1 s, and a forward and backward pass 2 s."""
    (task,) = run.tasks
    ends = (task.models[0], task.models[-1])
    return tuple(Timed(model, 8, took(0.0), (took(1.0), took(1.0)), (took(2.0), took(2.0))) for model in ends)


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setattr(comparison_costs, "time_passes", time_passes)
    monkeypatch.setattr(comparison_costs, "MANY_CALLS", 24)
    monkeypatch.setattr(TrainingData, "n_samples", 1000)
    return make_task(8)


def told(task: Task, measures: Sequence[str], withhold: Withhold = Withhold.AUTO) -> list[str]:
    settings, found = replace(SETTINGS, withhold=withhold), [find_baseline(name) for name in measures]
    submissions = [one for one in found if one is not None]
    calls = plan_calls(submissions, [task], settings, NOWHERE_TO_RUN)
    progress = Notes()
    note_costs(Run(submissions, [task], settings, NOWHERE_TO_RUN), progress, Plan(tuple(calls), ()))
    return progress.lines


def test_what_takes_most_is_named_but_not_for_few_calls_or_a_withheld_task(task: Task) -> None:
    first, second = told(task, ["depth", "cross_entropy", "l2_norm", "input_gradient_norm", "alpha"])
    assert first.startswith("40 calls, about ")
    assert first.endswith(" at once, less where measures share passes; 1 measure of singular values not counted")
    named = second.removeprefix("the measures that take most: ").split(", ")
    assert [one.split()[0] for one in named[:2]] == ["input_gradient_norm", "cross_entropy"]
    assert told(task, ["cross_entropy", "depth"]) == []
    assert told(task, ["cross_entropy", "depth", "l2_norm"], Withhold.ALWAYS) == []
