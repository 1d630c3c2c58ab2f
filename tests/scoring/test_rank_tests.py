"""Tests of rank tests over tasks, and of intervals for other tasks: published values, exact cases, coverage."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, t, ttest_1samp

from scoring import compare_mean_ranks, difference_on_other_tasks, mean_on_other_tasks, signed_rank_p_values

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


@pytest.mark.rest
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


@pytest.mark.parametrize("score", [0.0, 12.5, 100.0])
def test_tasks_that_are_alike_leave_no_doubt(score: float) -> None:
    assert mean_on_other_tasks(np.full((4, 2), score)) == pytest.approx(np.full((2, 2), score))


def test_an_interval_holds_its_mean_and_stays_within_the_scale() -> None:
    scores = np.random.default_rng(1).beta(0.3, 0.3, size=(4, 200)) * 100
    low, high = mean_on_other_tasks(scores).T
    assert ((low >= 0) & (low <= scores.mean(axis=0)) & (scores.mean(axis=0) <= high) & (high <= 100)).all()
    assert (low.min(), high.max()) == (0, 100)


def test_they_cover_the_mean_of_skewed_scores() -> None:
    """Scores are gamma variables of mean 10, as skewed as those of useless measures; t-intervals cover only 85 %."""
    scores = np.random.default_rng(2).gamma(1.5, 10 / 1.5, size=(4, 2000))
    low, high = mean_on_other_tasks(scores).T
    assert np.mean((low <= 10) & (high >= 10)) > 0.89
    plain = np.array(ttest_1samp(scores, 0).confidence_interval(0.9))
    assert np.mean((plain[0] <= 10) & (plain[1] >= 10)) < 0.88
