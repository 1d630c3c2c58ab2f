"""Tests of comparisons of submissions: intervals, ranks, groups, boards with little data, scores beyond a fit."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_examples import TOY_GAP, TOY_MEASURE, Task, cells, task, tasks

from scoring import (
    Comparison,
    Difference,
    Failure,
    Grid,
    HeldOut,
    ScoreUndefined,
    TaskCalls,
    additive_fit,
    compare_submissions,
    official_score,
    score_submission,
)
from scoring.comparison import score_intervals
from scoring.rank_intervals import (
    difference_errors,
    rank_groups,
    rank_intervals,
    standardized_differences,
    surely_better,
)

CELLS = cells(a=2, b=2, c=2, d=2, e=2)
GRID = Grid.from_hyperparameters({name: [0, 1] for name in "abcde"}, CELLS)


def calls(values: np.ndarray, gap: np.ndarray, grid: Grid = GRID) -> TaskCalls:
    return TaskCalls(
        grid, dict(zip(grid.models, gap.tolist(), strict=True)), dict(zip(grid.models, values.tolist(), strict=True))
    )


def board(noise: Mapping[str, float], seed: int = 0) -> dict[str, dict[str, TaskCalls]]:
    """Return submissions on two tasks; each submission's values are the gaps plus its own noise."""
    random = np.random.default_rng(seed)
    gaps = {name: random.normal(size=32) for name in ("task1", "task2")}
    return {
        submission: {name: calls(gap + size * random.normal(size=32), gap) for name, gap in gaps.items()}
        for submission, size in noise.items()
    }


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
    difference = found.difference("good", "noise")
    assert (difference.verdict, found.difference("noise", "good").verdict) == (1, -1)
    assert difference.points == found.standings["good"].score - found.standings["noise"].score
    assert 0 < difference.low < difference.points < difference.high
    assert difference.p_value < 0.01


def test_comparisons_are_paired() -> None:
    """Two submissions with nearly the same errors are told apart although their intervals overlap."""
    random = np.random.default_rng(1)
    gap = random.normal(size=32)
    values = gap + 0.8 * random.normal(size=32)
    slightly_worse = values.copy()
    slightly_worse[[3, 17]] = values[[17, 3]]
    found = compare_submissions({"a": {"t": calls(values, gap)}, "b": {"t": calls(slightly_worse, gap)}})
    a, b = found.standings["a"], found.standings["b"]
    assert b.high > a.low
    difference = found.difference("a", "b")
    assert difference.high - difference.points < 1.645 * math.hypot(a.error, b.error) / 2


def test_extreme_and_equal_submissions() -> None:
    found = compare_submissions(board({"good": 0.2}) | {"copy": board({"good": 0.2})["good"]})
    good, copy = found.standings.values()
    assert good == copy
    assert (good.best_rank, good.worst_rank, good.group) == (1, 2, 1)
    assert found.difference("good", "copy") == Difference(0.0, 0.0, 0.0, 1.0, 0)
    gap = np.random.default_rng(0).normal(size=32)
    found = compare_submissions({"perfect": {"t": calls(gap, gap)}, "constant": {"t": calls(np.ones(32), gap)}})
    perfect, constant = found.standings["perfect"], found.standings["constant"]
    assert perfect.score == pytest.approx(100)
    assert (constant.score, constant.low, constant.high, constant.error) == (0, 0, 0, 0)
    assert (perfect.group, constant.group, constant.best_rank) == (1, 2, 2)
    assert found.difference("perfect", "constant").p_value == 0


def unfinished(values: dict[str, float | Failure]) -> dict[str, dict[str, TaskCalls]]:
    finished = board({"x": 0.5})["x"]["task1"]
    return {"x": {"task1": TaskCalls(GRID, finished.gap, {**finished.values, **values})}}


@pytest.mark.parametrize("value", [Failure("CRASH"), Failure("TIMEOUT", exceeded=True), math.nan, math.inf])
def test_a_board_without_a_finished_submission_says_so(value: float | Failure) -> None:
    with pytest.raises(ScoreUndefined, match=r"expected a finished submission, found none among 1$"):
        compare_submissions(unfinished({"model_3": value}))


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
    with pytest.raises(ScoreUndefined):
        compare_submissions({})
    both = {"x": {**board({"x": 0.5})["x"], **flat["x"]}}
    assert compare_submissions(both).tasks == ("task1", "task2")


def test_tasks_grids_and_gaps_that_differ_or_are_no_numbers_are_refused() -> None:
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
    of_task = board({"x": 0.5})["x"]["task1"]
    damaged = TaskCalls(GRID, {**of_task.gap, GRID.models[0]: math.nan}, of_task.values)
    with pytest.raises(ValueError, match="gap: expected finite numbers, found nan"):
        compare_submissions({"x": {"t": damaged}})


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
    """Both tasks are equal and count half each, so the error is smaller by the root of two, up to random draws."""
    one, images = board({"good": 0.2})["good"]["task1"], HeldOut([0.5] * 32, 100)
    single, both = (
        compare_submissions({"good": dict.fromkeys(names, one)}, dict.fromkeys(names, images)).standings["good"]
        for names in ("a", "ab")
    )
    assert both.gap_error == pytest.approx(single.gap_error / math.sqrt(2), rel=0.1)


ACCURACIES = "task 'task1': expected a test accuracy from 0 to 1 for each of 32 models"


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        ({}, "task 'task1': expected a test set, found none"),
        ({"task1": HeldOut([0.5] * 31, 100)}, ACCURACIES),
        ({"task1": HeldOut([1.5] * 32, 100)}, ACCURACIES),
        ({"task1": HeldOut([0.5] * 32, 0)}, "task 'task1': expected at least one test image, found 0"),
    ],
)
def test_wrong_test_sets_are_refused(held_out: dict[str, HeldOut], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_submissions(board({"good": 0.2}), held_out)


@pytest.mark.rest
@given(tasks())
def test_only_the_order_of_values_counts(t: Task) -> None:
    plain = {"x": {"t": TaskCalls(t.grid, t.gap, t.measure)}}
    cubed = {"x": {"t": TaskCalls(t.grid, t.gap, {model: value**3 for model, value in t.measure.items()})}}
    assert compare_submissions(plain) == compare_submissions(cubed)
    assert compare_submissions(plain).standings["x"].score == 100 * official_score(*t.arrays).score


def test_intervals_are_symmetric_for_the_root_of_a_score() -> None:
    """The roots of the draws are 4 and 6, with deviation sqrt(2).

    The upper end of an interval is at least the 97.5 % quantile of the draws.
    """
    draws = np.array([[16.0], [36.0]])
    low, high = score_intervals(np.array([25.0]), draws, 1.0)[0]
    assert (low, high) == (pytest.approx((5 - math.sqrt(2)) ** 2), pytest.approx((5 + math.sqrt(2)) ** 2))
    low, high = score_intervals(np.array([4.0]), draws, 1.0)[0]
    assert (low, high) == (pytest.approx((2 - math.sqrt(2)) ** 2), pytest.approx(16 + 0.975 * 20))


def better(scores: np.ndarray, draws: np.ndarray) -> np.ndarray:
    errors = difference_errors(draws)
    return surely_better(standardized_differences(scores, errors), draws, errors, 0.9, 1000)


def independent(n: int, error: float = 1.0) -> np.ndarray:
    return error * np.random.default_rng(0).normal(size=(400, n))


def test_ranks_of_independent_scores_demand_more_among_more_submissions() -> None:
    """Scores of 10 and 9 with standard errors of 1 can share ranks 1 and 2; a score of 0 has rank 3."""
    found = better(np.array([9.0, 0.0, 10.0]), independent(3))
    assert found.tolist() == [[False, True, False], [False] * 3, [False, True, False]]
    assert rank_intervals(found).tolist() == [[1, 2], [3, 3], [1, 2]]
    assert rank_groups(found).tolist() == [1, 2, 1]
    # A difference of 3 with a standard error of 1.41 tells two submissions apart, but not two of forty.
    assert better(np.array([3.0, 0.0]), independent(2))[0, 1]
    assert not better(np.array([3.0, *[0.0] * 39]), independent(40)).any()


def test_who_is_better_than_the_better_is_better() -> None:
    """A is surely better than B, and B than C; C varies so much that A and C alone could not be told apart."""
    found = np.zeros((3, 3), np.bool_)
    found[0, 1] = found[1, 2] = True
    assert surely_better(np.where(found, np.inf, 0.0), np.zeros((5, 3)), np.zeros((3, 3)), 0.9, 1000)[0, 2]


@given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from([1.0, 4.0, 16.0]))
def test_ranks_and_groups_never_contradict_each_other(seed: int, n: int, spread: float) -> None:
    """For any scores and errors, ranks, groups and verdicts agree about every two submissions."""
    random = np.random.default_rng(seed)
    scores = spread * random.normal(size=n)
    draws = random.normal(size=(60, n)) @ (random.normal(size=(n, n)) * random.exponential(size=n))
    found = better(scores, draws)
    ranks, groups = rank_intervals(found), rank_groups(found)
    assert not (found & found.T).any()
    assert not ((found.astype(int) @ found > 0) & ~found).any()
    assert (ranks[:, 0] >= groups).all()  # somebody of each group before is better
    assert ((groups == 1) == (ranks[:, 0] == 1)).all()
    for one, other in np.argwhere(found):
        assert groups[one] < groups[other]
        assert scores[one] > scores[other]
    leader = int(np.argmax(scores))
    assert groups[leader] == ranks[leader, 0] == 1
    assert (ranks[leader, 1] == 1) == (np.count_nonzero(groups == 1) == 1)


def test_the_interval_on_other_tasks_is_no_narrower() -> None:
    """Four equal tasks show no variation between tasks, but each was trained only once."""
    of_task = board({"x": 0.5})["x"]["task1"]
    (standing,) = compare_submissions({"x": dict.fromkeys("abcd", of_task)}).standings.values()
    assert (standing.tasks_low, standing.tasks_high) == (standing.low, standing.high)


NOISE = np.random.default_rng(2).normal(size=32)
GAP_OF_FIT = GRID.codes @ [0.3, 0.2, 0.1, 0.3, 0.2] + 0.5 * np.random.default_rng(1).normal(size=32)


def answers(**measures: np.ndarray) -> dict[str, bool]:
    return beyond({name: {"task": calls(values, GAP_OF_FIT)} for name, values in measures.items()})


def beyond(submissions: dict[str, dict[str, TaskCalls]]) -> dict[str, bool]:
    standings = compare_submissions(submissions).standings
    return {name: standing.beyond_hyperparameters for name, standing in standings.items()}


def test_the_gap_is_beyond_the_fit_and_a_small_lead_is_not_enough() -> None:
    """The sign of the measure does not matter, since information has no sign."""
    fit = additive_fit(GAP_OF_FIT, GRID)
    found = answers(
        gap=GAP_OF_FIT, fit=fit, likewise=np.exp(fit), noise=NOISE, against=-GAP_OF_FIT, constant=np.ones(32)
    )
    assert {name for name, beyond in found.items() if beyond} == {"gap", "against"}
    # The fit with a few networks in the order of their gaps scores more, but that may be luck.
    slightly = np.where(np.arange(32) < 4, GAP_OF_FIT, fit)
    assert answers(slightly=slightly) == {"slightly": False}


def test_the_answer_is_of_the_measure_alone() -> None:
    measures = {"noise": NOISE, "gap": GAP_OF_FIT, "mixed": GAP_OF_FIT + 0.05 * NOISE}
    together = answers(**measures)
    for name, values in measures.items():
        assert answers(one=values)["one"] == answers(one=np.exp(values))["one"] == together[name]


def test_all_tasks_count_together() -> None:
    """A submission that leads on one task and falls behind on the other is not beyond the fit."""
    good, constant = calls(GAP_OF_FIT + 0.5 * NOISE, GAP_OF_FIT), calls(np.ones(32), GAP_OF_FIT)
    found = beyond({"half": {"task": good, "other": constant}, "whole": {"task": good, "other": good}})
    assert found == {"half": False, "whole": True}
