"""Submissions compared: intervals, ranks, groups, and the boards of which little can be said."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from scoring_examples import TOY_GAP, TOY_MEASURE, Task, cells, task, tasks

from scoring import (
    Comparison,
    Failure,
    Grid,
    HeldOut,
    ScoreUndefined,
    TaskCalls,
    compare_submissions,
    official_score,
    score_submission,
)
from scoring.conditioning import conditioning
from scoring.jackknife import delete_one
from scoring.rank_intervals import rank_groups, rank_intervals, verdicts
from scoring.score_intervals import score_intervals

CELLS = cells(a=2, b=2, c=2, d=2, e=2)
GRID = Grid.from_hyperparameters({name: [0, 1] for name in "abcde"}, CELLS)


def calls(values: np.ndarray, gap: np.ndarray, grid: Grid = GRID) -> TaskCalls:
    return TaskCalls(
        grid, dict(zip(grid.models, gap.tolist(), strict=True)), dict(zip(grid.models, values.tolist(), strict=True))
    )


def board(noise: Mapping[str, float], seed: int = 0) -> dict[str, dict[str, TaskCalls]]:
    """Two tasks; a submission knows the gaps up to noise of its own."""
    random = np.random.default_rng(seed)
    gaps = {name: random.normal(size=32) for name in ("task1", "task2")}
    return {
        submission: {name: calls(gap + size * random.normal(size=32), gap) for name, gap in gaps.items()}
        for submission, size in noise.items()
    }


def beats(found: Comparison, one: str, other: str) -> float:
    order = list(found.standings)
    return float(found.beats[order.index(one), order.index(other)])


def test_a_board_best_first_with_intervals_ranks_and_groups() -> None:
    submissions = board({"noise": 100.0, "good": 0.2, "hum": 100.0})
    found = compare_submissions(submissions)
    scores = {name: standing.score for name, standing in found.standings.items()}
    assert next(iter(scores)) == "good"
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert (found.unfinished, found.tasks) == ((), ("task1", "task2"))
    for name, standing in found.standings.items():
        assert standing.score == pytest.approx(score_submission(submissions[name]).score)
        assert 0 <= standing.low <= standing.score <= standing.high <= 100
        assert (standing.gap_error, standing.model_error) == (None, None)
    assert [standing.group for standing in found.standings.values()] == [1, 2, 2]
    good = found.standings["good"]
    assert (good.best_rank, good.worst_rank) == (1, 1)
    assert beats(found, "good", "noise") > 0.99
    assert beats(found, "good", "noise") + beats(found, "noise", "good") == pytest.approx(1)


def test_the_error_is_the_jackknifes() -> None:
    """By its definition, on one task."""
    random = np.random.default_rng(0)
    gap, values = random.normal(size=(2, 32))

    without = 100 * delete_one(values, gap, conditioning(GRID))
    expected = math.sqrt(31 / 32 * sum((without - without.mean()) ** 2))
    (standing,) = compare_submissions({"one": {"task": calls(values, gap)}}).standings.values()
    assert standing.error == pytest.approx(expected)


def test_comparisons_are_paired() -> None:
    """Two submissions that err alike are told apart although their intervals overlap."""
    random = np.random.default_rng(1)
    gap = random.normal(size=32)
    values = gap + 0.8 * random.normal(size=32)
    slightly_worse = values.copy()
    slightly_worse[[3, 17]] = values[[17, 3]]
    found = compare_submissions({"a": {"t": calls(values, gap)}, "b": {"t": calls(slightly_worse, gap)}})
    a, b = found.standings["a"], found.standings["b"]
    assert b.high > a.low
    unpaired = (a.score - b.score) / math.hypot(a.error, b.error)
    assert beats(found, "a", "b") > 0.5 * (1 + math.erf(unpaired / math.sqrt(2)))


def test_equal_submissions_share_everything() -> None:
    found = compare_submissions(board({"good": 0.2}) | {"copy": board({"good": 0.2})["good"]})
    good, copy = found.standings.values()
    assert good == copy
    assert (good.best_rank, good.worst_rank, good.group) == (1, 2, 1)
    assert beats(found, "good", "copy") == 0.5


def test_a_perfect_measure_and_a_constant_one() -> None:
    gap = np.random.default_rng(0).normal(size=32)
    found = compare_submissions({"perfect": {"t": calls(gap, gap)}, "constant": {"t": calls(np.ones(32), gap)}})
    perfect, constant = found.standings["perfect"], found.standings["constant"]
    assert perfect.score == pytest.approx(100)
    assert (constant.score, constant.low, constant.high, constant.error) == (0, 0, 0, 0)
    assert (perfect.group, constant.group, constant.best_rank) == (1, 2, 2)
    assert beats(found, "perfect", "constant") == pytest.approx(1)


def test_a_single_submission() -> None:
    (standing,) = compare_submissions(board({"only": 0.5})).standings.values()
    assert (standing.best_rank, standing.worst_rank, standing.group) == (1, 1, 1)


def unfinished(values: dict[str, float | Failure]) -> dict[str, dict[str, TaskCalls]]:
    finished = board({"x": 0.5})["x"]["task1"]
    return {"x": {"task1": TaskCalls(GRID, finished.gap, {**finished.values, **values})}}


@pytest.mark.parametrize("value", [Failure("CRASH"), Failure("TIMEOUT", exceeded=True), math.nan])
def test_a_board_without_a_finished_submission_says_so(value: float | Failure) -> None:
    with pytest.raises(ScoreUndefined, match=r"expected a finished submission, found none among 1$"):
        compare_submissions(unfinished({"model_3": value}))


def test_an_empty_board_says_so() -> None:
    with pytest.raises(ScoreUndefined, match=r"expected a finished submission, found none among 0$"):
        compare_submissions({})


def test_unfinished_submissions_are_named_and_compared_with_none() -> None:
    submissions = board({"good": 0.2, "fair": 1.0})
    submissions["fair"] = {**submissions["fair"], "task2": TaskCalls(GRID, submissions["fair"]["task2"].gap, {})}
    found = compare_submissions(submissions)
    assert (list(found.standings), found.unfinished) == (["good"], ("fair",))


def test_two_hyperparameters_only_have_no_comparison() -> None:
    t = task(TOY_GAP, TOY_MEASURE, a=4, b=2)
    flat = {"x": {"flat": TaskCalls(t.grid, t.gap, t.measure)}}
    with pytest.raises(ScoreUndefined, match=r"expected a task with an official score, found none among 1$"):
        compare_submissions(flat)
    both = {"x": {**board({"x": 0.5})["x"], **flat["x"]}}
    assert compare_submissions(both).tasks == ("task1", "task2")


def test_different_tasks_grids_and_gaps_are_refused() -> None:
    submissions = board({"a": 0.2, "b": 0.2})
    fewer = {"a": submissions["a"], "b": {"task1": submissions["b"]["task1"]}}
    with pytest.raises(ValueError, match=r"submission 'b': expected the tasks of 'a' \(task1, task2\), found task1$"):
        compare_submissions(fewer)
    with pytest.raises(ValueError, match=r"^submission 'b', task 'task1': expected the gaps of 'a', found others$"):
        compare_submissions({"a": submissions["a"], "b": board({"b": 0.2}, seed=1)["b"]})
    other = Grid.from_hyperparameters({name: [0, 1] for name in "abcde"}, dict(reversed(CELLS.items())))
    moved = {name: TaskCalls(other, each.gap, each.values) for name, each in submissions["b"].items()}
    with pytest.raises(ValueError, match=r"^submission 'b', task 'task1': expected the grid of 'a', found another$"):
        compare_submissions({"a": submissions["a"], "b": moved})


def errors_with(accuracy: float, n_images: int) -> Comparison:
    images = {name: HeldOut([accuracy] * 32, n_images) for name in ("task1", "task2")}
    return compare_submissions(board({"good": 0.2}), images)


def test_the_error_of_measuring_the_gaps_is_a_part() -> None:
    few, many, exact = (errors_with(*test).standings["good"] for test in ((0.5, 20), (0.5, 2000), (1.0, 20)))
    for standing in (few, many, exact):
        assert standing.gap_error is not None
        assert standing.model_error is not None
        assert math.hypot(standing.gap_error, standing.model_error) == pytest.approx(standing.error)
    assert few.gap_error > many.gap_error > 0.1
    assert exact.gap_error == pytest.approx(0, abs=1e-9)


def test_the_errors_of_tasks_add_up_as_those_of_independent_numbers() -> None:
    """Each task counts half: two alike have an error that is smaller by the root of two, but for the draws."""
    one = board({"good": 0.2})["good"]["task1"]
    images = HeldOut([0.5] * 32, 100)
    errors = [
        compare_submissions({"good": dict.fromkeys(names, one)}, dict.fromkeys(names, images))
        .standings["good"]
        .gap_error
        for names in (["a"], ["a", "b"])
    ]
    assert None not in errors
    assert errors[1] == pytest.approx(errors[0] / math.sqrt(2), rel=0.1)


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        ({}, "task 'task1': expected a test set, found none"),
        (
            {"task1": HeldOut([0.5] * 31, 100)},
            "task 'task1': expected a test accuracy from 0 to 1 for each of 32 models",
        ),
        (
            {"task1": HeldOut([1.5] * 32, 100)},
            "task 'task1': expected a test accuracy from 0 to 1 for each of 32 models",
        ),
        ({"task1": HeldOut([0.5] * 32, 0)}, "task 'task1': expected at least one test image, found 0"),
    ],
)
def test_wrong_test_sets_are_refused(held_out: dict[str, HeldOut], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_submissions(board({"good": 0.2}), held_out)


@given(tasks())
def test_only_the_order_of_values_counts(t: Task) -> None:
    plain = {"x": {"t": TaskCalls(t.grid, t.gap, t.measure)}}
    cubed = {"x": {"t": TaskCalls(t.grid, t.gap, {model: value**3 for model, value in t.measure.items()})}}
    assert compare_submissions(plain) == compare_submissions(cubed)
    assert compare_submissions(plain).standings["x"].score == 100 * official_score(*t.arrays).score


def test_intervals_are_symmetric_for_the_root_of_a_score() -> None:
    """Roots of 4, 5 and 6: deviations of -1 and 1 from 5."""
    low, high = score_intervals(np.array([25.0]), np.array([[-9.0], [11.0]]), 1.0, 100.0)[0]
    assert (low, high) == (pytest.approx((5 - math.sqrt(2)) ** 2), pytest.approx((5 + math.sqrt(2)) ** 2))
    assert score_intervals(np.array([25.0]), np.array([[-9.0], [11.0]]), 10.0, 100.0).tolist() == [[0, 100]]


def test_ranks_of_independent_scores() -> None:
    """Standard errors of 1: 10 and 9 cannot be told apart, 0 is behind both."""
    scores, spread = np.array([9.0, 0.0, 10.0]), np.eye(3)
    found = verdicts(scores, spread, 0.9)
    assert found.tolist() == [[0, 1, 0], [-1, 0, -1], [0, 1, 0]]
    assert rank_intervals(found).tolist() == [[1, 2], [3, 3], [1, 2]]
    assert rank_groups(scores, found).tolist() == [1, 2, 1]


def test_a_group_is_of_those_that_cannot_be_told_from_its_first() -> None:
    """0 and 6 are apart, 3 is between: it belongs to the first."""
    scores = np.array([0.0, 3.0, 6.0])
    assert rank_groups(scores, verdicts(scores, 1.2 * np.eye(3), 0.9)).tolist() == [2, 1, 1]


def test_more_submissions_demand_more_of_each_comparison() -> None:
    """A difference of 3 with a standard error of 1.41 tells two submissions apart, but not two of forty."""
    two, forty = np.array([3.0, 0.0]), np.array([3.0, *[0.0] * 39])
    assert verdicts(two, np.eye(2), 0.9)[0, 1] == 1
    assert (verdicts(forty, np.eye(40), 0.9)[0] == 0).all()
