"""Scores under shorter time limits, and the submissions that are worth their time."""

import math

import pytest
from scoring_examples import TOY_GAP, toy

from scoring import Failure, TaskCalls, TimeStep, pareto_front, score_submission, scores_by_limit

MODELS = toy().grid.models
GAP = dict(zip(MODELS, TOY_GAP, strict=True))
TASKS = {name: TaskCalls(toy().grid, GAP, toy().measure) for name in ("task1", "task2")}
SCORE = score_submission(TASKS).score


def seconds(slowest: float, others: float = 1.0) -> dict[str, float]:
    return {model: slowest if model == "model_3" else others for model in MODELS}


def test_a_score_is_there_from_the_slowest_call_on() -> None:
    assert scores_by_limit(TASKS, {"task1": seconds(9), "task2": seconds(5)}) == [
        TimeStep(0, 0, ()),
        TimeStep(5, 0, ("task2",)),
        TimeStep(9, SCORE, ("task1", "task2")),
    ]


def test_on_average_over_a_task() -> None:
    steps = scores_by_limit(TASKS, {"task1": seconds(9), "task2": seconds(5)}, budget="average")
    assert [(step.limit_s, step.score) for step in steps] == [(0, 0), (1.5, 0), (2, SCORE)]


def test_a_call_that_was_over_its_limit_stays_so() -> None:
    late = TaskCalls(toy().grid, GAP, {**toy().measure, "model_0": Failure("TIMEOUT", exceeded=True)})
    steps = scores_by_limit({**TASKS, "task2": late}, {"task1": seconds(2), "task2": seconds(3)})
    assert steps == [TimeStep(0, 0, ()), TimeStep(2, 0, ("task1",))]


def test_a_task_that_failed_otherwise_is_left_out_as_ever() -> None:
    crashed = TaskCalls(toy().grid, GAP, {**toy().measure, "model_0": Failure("CRASH")})
    steps = scores_by_limit({"task1": TASKS["task1"], "task2": crashed}, {"task1": seconds(2)})
    assert steps == [TimeStep(0, 0, ("task2",)), TimeStep(2, SCORE, ("task1", "task2"))]


def test_nothing_was_called() -> None:
    assert scores_by_limit({}, {}) == [TimeStep(0, None, ())]
    uncalled = TaskCalls(toy().grid, GAP, {})
    assert scores_by_limit({"task1": uncalled}, {}) == [TimeStep(0, None, ("task1",))]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ({"task3": {}}, "seconds: expected tasks of the submission, found task3"),
        ({"task1": {"model_9": 1.0}}, "seconds, task 'task1': expected models of the grid, found model_9"),
        ({"task1": {"model_0": -1.0}}, "seconds, task 'task1': expected finite times of 0 or more"),
        ({"task1": {"model_0": math.nan}}, "seconds, task 'task1': expected finite times of 0 or more"),
    ],
)
def test_wrong_times_are_refused(times: dict[str, dict[str, float]], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        scores_by_limit(TASKS, times)


@pytest.mark.parametrize(
    ("costs", "scores", "front"),
    [
        ([1, 2, 3, 4], [10, 30, 20, 40], [True, True, False, True]),
        ([1, 1, 2], [5, 5, 5], [True, True, False]),  # equals do not exclude each other
        ([1, 2], [None, 5], [False, True]),
        ([1, 2], [math.nan, None], [False, False]),
        ([3], [0], [True]),
        ([], [], []),
    ],
)
def test_the_pareto_front(costs: list[float], scores: list[float | None], front: list[bool]) -> None:
    assert pareto_front(costs, scores) == front


def test_costs_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="expected the same length, found 2 and 1"):
        pareto_front([1, 2], [1])
    with pytest.raises(ValueError, match="costs: expected finite numbers"):
        pareto_front([math.inf], [1])
