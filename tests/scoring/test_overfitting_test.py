"""The test of independence by adversarial examples: values, bounds, and freedom of bias."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.overfitting import (
    ANY_GENERATOR,
    TRANSLATION,
    RiskEstimates,
    bernstein_half_width,
    bernstein_interval,
    independence_p_value,
    pairwise_independence_test,
)

POINTS, VARIANCES = st.integers(10, 10**6), st.floats(0, 0.25)
STATISTICS, RANGES = st.floats(1e-4, 0.5), st.sampled_from([1.0, TRANSLATION, ANY_GENERATOR])


@pytest.mark.parametrize(
    ("n_points", "variance", "statistic", "value_range", "expected"),
    [
        (1000, 0.05, 0.05, 2.0, 0.0268927155),
        (1000, 0.05, 0.05, 1.5, 0.0093391351),
        (10000, 0.02, 0.01, 1.5, 0.00039461254),
        (500, 0.0, 0.1, 2.0, 0.00072110843),
        (500, 0.0, -0.1, 2.0, 0.00072110843),
        (1000, 0.05, 0.0, 2.0, 1.0),
        (1000, 0.0, 0.0, 2.0, 1.0),
    ],
)
def test_values(n_points: int, variance: float, statistic: float, value_range: float, expected: float) -> None:
    assert independence_p_value(n_points, variance, statistic, value_range) == pytest.approx(expected, rel=1e-7)


@given(POINTS, VARIANCES, STATISTICS, RANGES)
def test_the_printed_formula(n_points: int, variance: float, statistic: float, value_range: float) -> None:
    deviation = math.sqrt(variance)
    exponent = variance + 3 * value_range * statistic - deviation * math.sqrt(variance + 6 * value_range * statistic)
    printed = min(1.0, 3 * math.exp(-n_points / (9 * value_range**2) * exponent))
    assert independence_p_value(n_points, variance, statistic, value_range) == pytest.approx(printed, rel=1e-5)


@given(POINTS, VARIANCES, STATISTICS, RANGES)
def test_the_bound_at_the_p_value_is_the_statistic(
    n_points: int, variance: float, statistic: float, value_range: float
) -> None:
    p_value = independence_p_value(n_points, variance, statistic, value_range)
    if 1e-300 < p_value < 1:
        assert bernstein_half_width(n_points, variance, p_value, value_range) == pytest.approx(statistic)


@given(POINTS, VARIANCES, STATISTICS, RANGES)
def test_it_falls_with_statistic_and_points_and_rises_with_variance_and_range(
    n_points: int, variance: float, statistic: float, value_range: float
) -> None:
    p_value = independence_p_value(n_points, variance, statistic, value_range)
    assert independence_p_value(n_points, variance, 1.1 * statistic, value_range) <= p_value
    assert independence_p_value(2 * n_points, variance, statistic, value_range) <= p_value
    assert independence_p_value(n_points, variance + 0.01, statistic, value_range) >= p_value
    assert independence_p_value(n_points, variance, statistic, 1.1 * value_range) >= p_value


def estimates(seed: int = 0, n_points: int = 400, moved: float = 0.2, density: float = 0.4) -> RiskEstimates:
    random = np.random.default_rng(seed)
    losses = (random.random(n_points) < 0.1).astype(float)
    moved_losses = np.maximum(losses, random.random(n_points) < moved)
    return RiskEstimates.of(losses, moved_losses, np.where(moved_losses > losses, density, random.random(n_points)))


def test_a_generator_that_moves_nothing_never_rejects() -> None:
    losses = [0, 1, 1, 0]
    still = RiskEstimates.of(losses, losses, np.ones(4))
    assert (still.error_rate, still.adversarial_error_rate, still.adversarial_estimate) == (0.5, 0.5, 0.5)
    test = pairwise_independence_test(still)
    assert (test.statistic, test.p_value) == (0.0, 1.0)


def test_intervals_are_bernstein_bounds_within_the_range_of_a_risk() -> None:
    one = estimates(n_points=4000)
    for values, (low, high) in (
        (one.losses, one.error_interval),
        (one.weighted_losses, one.adversarial_interval),
    ):
        width = bernstein_half_width(4000, float(values.var()), 0.05, 1.0)
        assert (low, high) == (pytest.approx(values.mean() - width), pytest.approx(values.mean() + width))
    assert bernstein_interval(np.zeros(1000)) == (0.0, pytest.approx(3 * math.log(60) / 1000))
    assert bernstein_interval(np.ones(1000))[1] == 1.0
    assert bernstein_interval(one.losses, 0.99)[1] > one.error_interval[1]


def test_intervals_hold_the_expectation_at_least_as_often_as_they_say() -> None:
    random = np.random.default_rng(0)
    held = [
        low <= 0.2 <= high for low, high in (bernstein_interval((random.random(300) < 0.2) * 1.0) for _ in range(400))
    ]
    assert np.mean(held) >= 0.95


def test_several_models_are_averaged_point_by_point() -> None:
    several = [estimates(seed) for seed in range(5)]
    differences = np.mean([one.differences for one in several], axis=0)
    test = pairwise_independence_test(*several, difference_range=TRANSLATION)
    assert (test.statistic, test.n_models) == (pytest.approx(differences.mean()), 5)
    assert test.p_value == independence_p_value(400, differences.var(), differences.mean(), TRANSLATION)
    assert pairwise_independence_test(*[several[0]] * 3).p_value == pytest.approx(
        pairwise_independence_test(several[0]).p_value
    )


def test_the_weighted_estimate_has_no_bias_on_a_cyclic_space() -> None:
    """All training-free models on six points of a circle, label by half; shifts by one are the translations."""
    size, label = 6, np.arange(6) // 3
    for wrong in itertools.product((0, 1), repeat=size):
        losses = np.array(wrong, float)
        target = np.arange(size)
        for x in range(size):
            options = [y for y in ((x - 1) % size, (x + 1) % size) if losses[y] and label[y] == label[x]]
            if not losses[x] and options:
                target[x] = options[0]
        arriving = np.bincount(target, minlength=size)
        densities = 1 / np.maximum(arriving, 1)[target]
        everything = RiskEstimates.of(losses, losses[target], densities)
        assert everything.adversarial_estimate == pytest.approx(everything.error_rate), wrong


def test_two_correct_points_moved_onto_one_wrong_point_weigh_a_third() -> None:
    one = RiskEstimates.of([0, 0, 1], [1, 1, 1], [1 / 3] * 3)
    assert one.adversarial_estimate == pytest.approx(one.error_rate)


@pytest.mark.parametrize(
    ("losses", "moved", "densities", "message"),
    [
        ([0, 1], [0, 1], [1], "one length"),
        ([], [], [], "one length"),
        ([0, 0.5], [0, 1], [1, 1], "losses: expected 0 or 1"),
        ([0, 1], [0, 1], [1, 1.5], "from 0 to 1"),
        ([0, 1], [0, 1], [1, np.nan], "from 0 to 1"),
        ([0, 1], [0, 0], [1, 1], "leaves misclassified points"),
    ],
)
def test_what_no_generator_can_give_is_refused(
    losses: list[float], moved: list[float], densities: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        RiskEstimates.of(losses, moved, densities)


def test_models_of_different_test_sets_are_refused() -> None:
    with pytest.raises(ValueError, match="the same points"):
        pairwise_independence_test(estimates(n_points=10), estimates(n_points=11))
    with pytest.raises(ValueError, match="at least one"):
        pairwise_independence_test()
