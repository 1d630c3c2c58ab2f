"""Intervals for other tasks: by their definitions, with tasks that are alike, and how often they cover."""

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from scoring import difference_on_other_tasks, mean_on_other_tasks


def test_fewer_than_four_tasks_say_nothing() -> None:
    assert mean_on_other_tasks(np.ones((3, 2))) is None
    assert difference_on_other_tasks(np.ones((3, 2))) is None


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
    assert (low >= 0).all()
    assert (high <= 100).all()
    assert (low <= scores.mean(axis=0)).all()
    assert (scores.mean(axis=0) <= high).all()
    assert (low == 0).any()
    assert (high == 100).any()


def test_they_cover_the_mean_of_skewed_scores() -> None:
    """Gamma variables of mean 10, as skewed as scores of useless measures; Student's t covers .85 of them."""
    scores = np.random.default_rng(2).gamma(1.5, 10 / 1.5, size=(4, 2000))
    low, high = mean_on_other_tasks(scores).T
    assert np.mean((low <= 10) & (high >= 10)) > 0.89
    plain = np.array(ttest_1samp(scores, 0).confidence_interval(0.9))
    assert np.mean((plain[0] <= 10) & (plain[1] >= 10)) < 0.88
