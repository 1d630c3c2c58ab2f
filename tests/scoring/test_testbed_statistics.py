"""Spread over classes, marginals, divergences and consistency of the testbed: closed forms and enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import ScoreUndefined, class_spread, divergences_from, gaussian_divergence, inconsistency, marginal

CLOUDS = st.lists(st.integers(0, 10_000), min_size=1, max_size=4).map(
    lambda seeds: [np.random.default_rng(seed).uniform(0, 1, (6, 2)) for seed in seeds]
)


def test_the_spread_over_classes():
    found = class_spread([0.0, 0.1, 0.2, 0.3])
    assert found.mean == pytest.approx(0.15)
    assert found.deviation == pytest.approx(np.sqrt(0.05 / 3)), "divided by n - 1"
    assert found.percentile_10 == pytest.approx(0.03), "0.3 of the way from the first to the second"


def test_one_class_has_no_spread():
    with pytest.raises(ScoreUndefined, match="at least 2 classes, found 1"):
        class_spread([0.5])


def test_a_marginal_is_the_mean_over_the_two_other_axes():
    cells = np.arange(24.0).reshape(2, 3, 4)
    assert marginal(cells, 0).tolist() == [cells[0].mean(), cells[1].mean()]
    assert marginal(cells, 2) == pytest.approx([cells[..., i].mean() for i in range(4)])
    with pytest.raises(ValueError, match="finite"):
        marginal(np.full((2, 2, 2), np.nan), 1)


def test_a_shift_by_one_deviation_is_half_a_nat():
    assert gaussian_divergence([1.3, 0], 1.69 * np.eye(2), [0, 0], 1.69 * np.eye(2)) == pytest.approx(0.5)


def test_a_wider_gaussian():
    """1/2 [tr - 2 + ln(1 / 4^2)] with covariance 4 I against I."""
    assert gaussian_divergence([0, 0], 4 * np.eye(2), [0, 0], np.eye(2)) == pytest.approx((8 - 2 - np.log(16)) / 2)


@given(CLOUDS)
def test_divergences_are_zero_at_the_origin_and_nowhere_negative(clouds):
    found = divergences_from(clouds, len(clouds) - 1)
    assert found[-1] == pytest.approx(0, abs=1e-9)
    assert (found >= 0).all()


def test_equal_points_have_a_divergence_too():
    assert divergences_from([np.zeros((3, 2)), np.ones((3, 2))], 0).tolist() == pytest.approx([0, 1 / 1e-4])
    with pytest.raises(ScoreUndefined, match="at least 2 points, found 1"):
        divergences_from([np.zeros((1, 2))], 0)


def test_the_order_of_a_measure():
    errors = [0.1, 0.2, 0.3, 0.4]
    assert inconsistency([1, 2, 3, 4], errors) == 0
    assert inconsistency([4, 3, 2, 1], errors) == 1
    assert inconsistency([5, 5, 5, 5], errors) == 0.5


def test_eight_models_give_fifty_sixths():
    """Table 3 of the paper: 12/28, 9/28 and 18/28 of the pairs of eight models."""
    random = np.random.default_rng(0)
    for _ in range(50):
        found = 56 * inconsistency(random.integers(0, 5, 8), random.integers(0, 5, 8))
        assert found == pytest.approx(round(found))
    for published, pairs in ((0.428571, 12), (0.321429, 9), (0.642857, 18)):
        assert published == pytest.approx(pairs / 28, abs=1e-6)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=6))
def test_it_is_the_share_of_pairs_in_the_wrong_order(models):
    pairs = itertools.combinations(models, 2)
    wrong = [(1 - np.sign(a[0] - b[0]) * np.sign(a[1] - b[1])) / 2 for a, b in pairs]
    assert inconsistency(*zip(*models, strict=True)) == pytest.approx(np.mean(wrong))
