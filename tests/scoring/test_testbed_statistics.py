"""Tests of kappas, statistics and the trade-off point of the testbed: closed forms and enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scoring_examples import FEW

from scoring import (
    ScoreUndefined,
    class_spread,
    divergences_from,
    error_rates,
    gaussian_divergence,
    inconsistency,
    one_vs_rest_kappas,
    trade_off,
)


def test_the_spread_over_classes():
    found = class_spread([0.0, 0.1, 0.2, 0.3])
    assert found.mean == pytest.approx(0.15)
    assert found.deviation == pytest.approx(np.sqrt(0.05 / 3)), "divided by n - 1"
    assert found.percentile_10 == pytest.approx(0.03), "0.3 of the way from the first to the second"
    with pytest.raises(ScoreUndefined, match="at least 2 classes, found 1"):
        class_spread([0.5])


def test_divergences_in_closed_form():
    """The covariance 4 I is compared with I: 1/2 [tr - 2 + ln(1 / 4^2)]."""
    assert gaussian_divergence([0, 0], 4 * np.eye(2), [0, 0], np.eye(2)) == pytest.approx((8 - 2 - np.log(16)) / 2)
    assert divergences_from([np.zeros((3, 2)), np.ones((3, 2))], 0).tolist() == pytest.approx([0, 1 / 1e-4])
    with pytest.raises(ScoreUndefined, match="at least 2 points, found 1"):
        divergences_from([np.zeros((1, 2))], 0)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=4))
def test_divergences_are_zero_at_the_origin_and_nowhere_negative(seeds):
    clouds = [np.random.default_rng(seed).uniform(0, 1, (6, 2)) for seed in seeds]
    found = divergences_from(clouds, len(clouds) - 1)
    assert found[-1] == pytest.approx(0, abs=1e-9)
    assert (found >= 0).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=6))
def test_it_is_the_share_of_pairs_in_the_wrong_order(models):
    pairs = itertools.combinations(models, 2)
    wrong = [(1 - np.sign(a[0] - b[0]) * np.sign(a[1] - b[1])) / 2 for a, b in pairs]
    assert inconsistency(*zip(*models, strict=True)) == pytest.approx(np.mean(wrong))


CONFUSIONS = (
    st.integers(2, 6)
    .flatmap(lambda n: arrays(np.int64, (n, n), elements=st.integers(0, 30)))
    .map(
        lambda counts: counts + np.eye(len(counts), dtype=np.int64)  # an example of every class at least
    )
)


def test_kappas_in_closed_form():
    both = one_vs_rest_kappas([[20, 5], [10, 15]])
    assert both == pytest.approx([0.4, 0.4])
    assert error_rates([[20, 5], [10, 15]]) == pytest.approx([0.2, 0.4])
    assert one_vs_rest_kappas([[7]]) == 1


@given(CONFUSIONS)
def test_each_class_has_the_kappa_and_the_error_rate_of_its_own_table(counts):
    total = counts.sum()
    for number, kappa in enumerate(one_vs_rest_kappas(counts)):
        hit = counts[number, number]
        missed, wrongly = counts[number].sum() - hit, counts[:, number].sum() - hit
        table = np.array([[hit, missed], [wrongly, total - hit - missed - wrongly]]) / total
        expected = table.sum(axis=1) @ table.sum(axis=0)
        assert error_rates(counts)[number] == pytest.approx(missed / (hit + missed))
        assert kappa == pytest.approx((np.trace(table) - expected) / (1 - expected) if expected < 1 else 1)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, 2]], "expected a square matrix"),
        ([[1, -2], [1, 1]], "negative or not finite"),
        ([[1, 2], [0, 0]], "found none of class 1"),
    ],
)
def test_other_matrices_are_refused(counts, message):
    for function in (error_rates, one_vs_rest_kappas):
        with pytest.raises(ValueError, match=message):
            function(counts)


SIZES, SSIM, UNSEEN = [100.0, 250.0, 1000.0], [0.6, 0.8, 1.0], [0.0, 0.25, 0.5]
CONSTANT = np.ones((3, 3, 3))


def cells(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 3, (3, 3, 3))


def test_a_constant_objective_leaves_the_corner_and_of_equal_minima_the_smallest_values_win():
    found = trade_off(CONSTANT, SIZES, SSIM, UNSEEN)
    assert (found.size, found.ssim, found.unseen) == (100, 0.6, 0.5)
    assert (found.objective, found.penalty) == (pytest.approx(1), pytest.approx(0.5**2 + 0.6**2))
    equal = trade_off(0.318 * CONSTANT, SIZES, SSIM, UNSEEN, weight=0)  # interpolation rounds
    assert (equal.size, equal.ssim, equal.unseen) == (100, 0.6, 0)


@FEW
@given(st.integers(0, 1000))
def test_without_a_penalty_it_is_the_smallest_objective(seed):
    objective = cells(seed)
    found = trade_off(objective, SIZES, SSIM, UNSEEN, weight=0)
    size, ssim, unseen = np.unravel_index(objective.argmin(), objective.shape)
    assert (found.size, found.ssim, found.unseen) == (SIZES[size], SSIM[ssim], UNSEEN[unseen])
    assert found.objective == pytest.approx(objective.min())


@FEW
@given(st.integers(0, 1000), st.floats(0, 5), st.floats(0, 5))
def test_a_heavier_penalty_buys_a_smaller_one(seed, first, second):
    light, heavy = (trade_off(cells(seed), SIZES, SSIM, UNSEEN, weight=w) for w in sorted((first, second)))
    assert heavy.penalty <= light.penalty + 1e-9
    assert heavy.objective >= light.objective - 1e-9


def test_between_cells_a_linear_objective_is_found_exactly():
    """J = -2 a x with x = ssim and penalty x^2 is smallest at x = a."""
    objective = np.broadcast_to(-2 * 0.8 * np.array([0.6, 1.0])[:, None], (1, 2, 1))
    found = trade_off(objective, [5], [0.6, 1.0], [0.0])
    assert found.ssim == pytest.approx(0.8)


def test_other_arrays_are_interpolated_at_the_point():
    size, ssim, unseen = np.meshgrid(SIZES, SSIM, UNSEEN, indexing="ij")
    found = trade_off(cells(3), SIZES, SSIM, UNSEEN, also={"linear": size + 10 * ssim - unseen})
    assert found.values["linear"] == pytest.approx(found.size + 10 * found.ssim - found.unseen)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sizes": [1, 1, 2]}, "sizes: expected ascending"),
        ({"unseen": [0.0, 0.1]}, "objective: expected shape"),
        ({"objective": np.full((3, 3, 3), np.nan)}, "objective: expected finite"),
        ({"weight": -1}, "weight: expected a finite number"),
    ],
)
def test_other_arguments_are_refused(settings, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        trade_off(**({"objective": CONSTANT, "sizes": SIZES, "ssim": SSIM, "unseen": UNSEEN} | settings))
