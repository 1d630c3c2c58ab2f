"""Tests of comparisons of submissions: intervals, ranks, groups, scores beyond a fit, tests over tasks."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, norm, t, ttest_1samp
from scoring_examples import TOY_GAP, TOY_MEASURE, cells, task

from scoring import (
    Difference,
    Failure,
    Grid,
    HeldOut,
    ScoreUndefined,
    Standing,
    TaskCalls,
    additive_fit,
    compare_mean_ranks,
    compare_submissions,
    difference_on_other_tasks,
    mean_on_other_tasks,
    score_submission,
    signed_rank_p_values,
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
    first, second = list(found.standings)[1:]
    alike, error = found.difference(first, second), found.errors[1, 2]
    assert alike.p_value == pytest.approx(2 * norm.sf(alike.points / error))
    assert (alike.low, alike.high) == pytest.approx(norm.interval(0.9, alike.points, error))
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


@pytest.mark.parametrize("value", [Failure("CRASH"), Failure("TIMEOUT", exceeded=True), math.nan, math.inf])
def test_a_board_without_a_finished_submission_says_so(value: float | Failure) -> None:
    finished = board({"x": 0.5})["x"]["task1"]
    one = {"task1": TaskCalls(GRID, finished.gap, {**finished.values, "model_3": value})}
    with pytest.raises(ScoreUndefined, match=r"expected a finished submission, found none among 1$"):
        compare_submissions({"x": one})


def test_unfinished_submissions_and_tasks_without_an_official_score_are_left_out() -> None:
    t = task(TOY_GAP, TOY_MEASURE, a=4, b=2)
    flat = {"flat": TaskCalls(t.grid, t.gap, t.measure)}
    with pytest.raises(ScoreUndefined, match=r"expected a task with an official score, found none among 1$"):
        compare_submissions({"x": flat})
    with pytest.raises(ScoreUndefined):
        compare_submissions({})
    assert compare_submissions({"x": board({"x": 0.5})["x"] | flat}).tasks == ("task1", "task2")
    submissions = board({"good": 0.2, "fair": 1.0})
    submissions["fair"] = {**submissions["fair"], "task2": TaskCalls(GRID, submissions["fair"]["task2"].gap, {})}
    found = compare_submissions(submissions)
    assert (list(found.standings), found.unfinished) == (["good"], ("fair",))


def test_tasks_grids_and_gaps_that_differ_or_are_no_numbers_are_refused() -> None:
    one, two = board({"a": 0.2, "b": 0.2}).values()
    other = Grid.from_hyperparameters({name: [0, 1] for name in "abcde"}, dict(reversed(CELLS.items())))
    on_task = "^submission 'b', task 'task1': expected the"
    for wrong, message in (
        ({"task1": two["task1"]}, r"submission 'b': expected the tasks of 'a' \(task1, task2\), found task1$"),
        (board({"b": 0.2}, seed=1)["b"], f"{on_task} gaps of 'a', found others$"),
        ({name: replace(each, grid=other) for name, each in two.items()}, f"{on_task} grid of 'a', found another$"),
    ):
        with pytest.raises(ValueError, match=message):
            compare_submissions({"a": one, "b": wrong})
    equal = Grid.from_hyperparameters({name: [0, 1] for name in "abcde"}, CELLS)
    assert compare_submissions({"a": one, "b": {name: replace(each, grid=equal) for name, each in two.items()}})
    damaged = replace(one["task1"], gap={**one["task1"].gap, GRID.models[0]: math.nan})
    with pytest.raises(ValueError, match="gap: expected finite numbers, found nan"):
        compare_submissions({"x": {"t": damaged}})


def test_the_error_of_measuring_the_gaps_is_a_part() -> None:
    def errors(accuracy: float, n_images: int) -> Standing:
        images = {name: HeldOut([accuracy] * 32, n_images) for name in ("task1", "task2")}
        return compare_submissions(board({"good": 0.2}), images).standings["good"]

    few, many, exact = errors(0.5, 20), errors(0.5, 2000), errors(1.0, 20)
    for standing in (few, many, exact):
        assert math.hypot(standing.gap_error, standing.model_error) == pytest.approx(standing.error)
    assert few.gap_error > many.gap_error > 0.1
    assert exact.gap_error == pytest.approx(0, abs=1e-9)
    # Two equal tasks count half each, so the error is smaller by the root of two, up to random draws.
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


def test_intervals_are_symmetric_for_the_root_of_a_score() -> None:
    """The roots of the draws are 4 and 6; the upper end is at least the 97.5 % quantile of the draws."""
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


def beyond(submissions: dict[str, dict[str, TaskCalls]]) -> dict[str, bool]:
    standings = compare_submissions(submissions).standings
    return {name: standing.beyond_hyperparameters for name, standing in standings.items()}


def answers(**measures: np.ndarray) -> dict[str, bool]:
    return beyond({name: {"task": calls(values, GAP_OF_FIT)} for name, values in measures.items()})


def test_the_gap_is_beyond_the_fit_and_a_small_lead_is_not_enough_whoever_else_is_there() -> None:
    """The sign of the measure does not matter, since information has no sign."""
    fit = additive_fit(GAP_OF_FIT, GRID)
    # The fit with a few networks in the order of their gaps scores more, but that may be luck.
    measures = {
        "gap": GAP_OF_FIT,
        "against": -GAP_OF_FIT,
        "fit": fit,
        "likewise": np.exp(fit),
        "noise": NOISE,
        "constant": np.ones(32),
        "slightly": np.where(np.arange(32) < 4, GAP_OF_FIT, fit),
    }
    assert answers(**measures) == {name: name in ("gap", "against") for name in measures}
    for name in ("noise", "gap", "slightly"):
        assert answers(**{name: np.exp(measures[name])}) == {name: name == "gap"}


def test_all_tasks_count_together() -> None:
    """A submission that leads on one task and falls behind on the other is not beyond the fit."""
    good, constant = calls(GAP_OF_FIT + 0.5 * NOISE, GAP_OF_FIT), calls(np.ones(32), GAP_OF_FIT)
    found = beyond({"half": {"task": good, "other": constant}, "whole": {"task": good, "other": good}})
    assert found == {"half": False, "whole": True}


#: Demsar 2006, table 6: areas under the curve of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets. One number was
#: made .0001 smaller: he ranks it below another that is printed the same.
DEMSAR = np.array([
    [.763, .599, .954, .628, .882, .936, .661, .583, .775, 1.0, .940, .619, .972, .957],
    [.768, .591, .971, .661, .888, .931, .668, .583, .838, 1.0, .962, .666, .981, .978],
    [.771, .590, .968, .654, .886, .916, .609, .563, .866, 1.0, .965, .614, .975, .946],
    [.798, .569, .967, .657, .898, .931, .685, .625, .875, 1.0, .962, .669, .9749, .970],
]).T  # fmt: skip


def test_demsars_example() -> None:
    """Demsar prints mean ranks 3.143, 2.000, 2.893 and 1.964, and q = 2.569 for four classifiers."""
    found = compare_mean_ranks(DEMSAR)
    assert found.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert found.p_value == pytest.approx(friedmanchisquare(*DEMSAR.T).pvalue)
    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=2e-3)
    assert (found.order, found.groups) == ((3, 1, 2, 0), ((0, 3),))


def counted(difference: np.ndarray) -> float:
    """Return the share of sign patterns whose signed rank sum is at least as far from 0 as the sum of `difference`."""
    left = np.round(difference[np.abs(difference) > 1e-9], 9)
    size = np.abs(left)
    ranks = np.array([np.sum(size < one) + (np.sum(size == one) + 1) / 2 for one in size])
    signs = np.array(list(product((-1, 1), repeat=left.size)))
    return float(np.mean(np.abs(signs @ ranks) >= abs(np.sign(left) @ ranks)))


@given(st.lists(st.integers(-4, 4), min_size=6, max_size=9))
def test_p_values_by_counting_all_signs(differences: list[int]) -> None:
    (found,) = signed_rank_p_values(np.array(differences)[:, None])
    assert found == pytest.approx(counted(np.array(differences, float)))


def test_too_few_tasks_or_submissions_say_nothing() -> None:
    assert compare_mean_ranks(np.ones((5, 3))) is None
    assert compare_mean_ranks(np.ones((6, 2))) is None
    assert signed_rank_p_values(np.ones((5, 1))) is None
    assert signed_rank_p_values(np.arange(1.0, 7)[:, None]).tolist() == [2 / 64]
    assert mean_on_other_tasks(np.ones((3, 2))) is None
    assert difference_on_other_tasks(np.ones((3, 2))) is None


def test_groups_of_equal_and_of_ordered_submissions() -> None:
    found = compare_mean_ranks(np.ones((6, 3)))
    assert (found.p_value, found.mean_ranks, found.groups) == (1, (2, 2, 2), ((0, 2),))
    assert signed_rank_p_values(np.zeros((6, 2))).tolist() == [1, 1]
    # Always in the same order: neighbouring mean ranks differ by 1, and 1.91 is the critical difference.
    found = compare_mean_ranks(np.tile([1.0, 2.0, 3.0, 4.0], (6, 1)))
    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(20 / 36), abs=1e-3)
    assert (found.order, found.groups) == ((3, 2, 1, 0), ((0, 1), (1, 2), (2, 3)))


@given(st.integers(0, 10**6))
def test_only_ranks_within_a_task_count(seed: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 5, size=(7, 4)).astype(float)
    assert compare_mean_ranks(scores) == compare_mean_ranks(scores**2 + np.arange(7)[:, None])
    assert compare_mean_ranks(scores) == compare_mean_ranks(scores + 1e-13 * np.arange(4))


@pytest.mark.parametrize("wrong", [[[1.0, 2.0, np.nan]] * 6, [1.0] * 6])
def test_what_is_no_table_of_numbers_is_refused(wrong: list[object]) -> None:
    for test in (compare_mean_ranks, signed_rank_p_values, mean_on_other_tasks, difference_on_other_tasks):
        with pytest.raises(ValueError, match=r"expected finite numbers of shape \(n_tasks, n\)"):
            test(wrong)


def test_the_interval_of_a_mean_is_the_jackknifes_on_fourth_roots() -> None:
    scores = np.array([3.0, 10.0, 22.0, 60.0, 15.0])
    root = scores.mean() ** 0.25
    left_out = np.array([np.delete(scores, task).mean() ** 0.25 for task in range(5)])
    half = t.ppf(0.975, 4) * np.sqrt(4 / 5 * ((left_out - root) ** 2).sum())
    (interval,) = mean_on_other_tasks(scores[:, None])
    assert interval == pytest.approx([(root - half) ** 4, (root + half) ** 4])


def test_the_interval_of_a_difference_is_that_of_students_t() -> None:
    differences = np.random.default_rng(0).normal(2, 5, size=(6, 3))
    expected = ttest_1samp(differences, 0).confidence_interval(0.95)
    found = difference_on_other_tasks(differences).T
    assert found == pytest.approx(np.array(expected))


def test_intervals_cover_the_mean_of_skewed_scores() -> None:
    """Scores are gamma variables of mean 10, as skewed as those of useless measures; t-intervals cover only 85 %."""
    scores = np.random.default_rng(2).gamma(1.5, 10 / 1.5, size=(4, 2000))
    low, high = mean_on_other_tasks(scores).T
    assert np.mean((low <= 10) & (high >= 10)) > 0.89
    plain = np.array(ttest_1samp(scores, 0).confidence_interval(0.9))
    assert np.mean((plain[0] <= 10) & (plain[1] >= 10)) < 0.88


def test_an_interval_holds_its_mean_and_stays_within_the_scale() -> None:
    scores = np.random.default_rng(1).beta(0.3, 0.3, size=(4, 200)) * 100
    low, high = mean_on_other_tasks(scores).T
    assert ((low >= 0) & (low <= scores.mean(axis=0)) & (scores.mean(axis=0) <= high) & (high <= 100)).all()
    assert (low.min(), high.max()) == (0, 100)
    alike = np.tile([0.0, 12.5, 100.0], (4, 1))
    assert mean_on_other_tasks(alike) == pytest.approx(np.stack([alike[0]] * 2, axis=1))
