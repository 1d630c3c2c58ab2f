"""Tests of statistics of perturbation response curves: closed forms, bounds, and weights."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from baselines.perturbation_response.response_curve import (
    accuracies_of,
    gi_score,
    grid,
    mean_error,
    pal_score,
    pcd_curve,
)

RANGES = [(0, 1), (0, 0.5), (-180, 179), (3, 4)]

curves = st.lists(st.floats(0, 1), min_size=2, max_size=30).map(np.array)


def places(accuracies):
    return np.linspace(0, 1, len(accuracies))


@pytest.mark.parametrize("bounds", RANGES)
@pytest.mark.parametrize("method", ["trapezoid", "exact"])
@pytest.mark.parametrize("n", [2, 3, 11, 25])
@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
def test_an_accuracy_that_does_not_change(c, n, method, bounds):
    magnitudes, accuracies = np.linspace(*bounds, n), np.full(n, c)
    assert gi_score(magnitudes, accuracies, method) == pytest.approx(1 - c, abs=1e-12)
    assert pal_score(magnitudes, accuracies) == pytest.approx(84 if c else 0)
    assert mean_error(accuracies) == pytest.approx(1 - c)


@pytest.mark.parametrize("method", ["trapezoid", "exact"])
def test_always_right_is_exactly_0(method):
    assert {gi_score(np.linspace(0, 0.5, n), np.ones(n), method) for n in range(2, 40)} == {0}


@pytest.mark.parametrize("bounds", RANGES)
@pytest.mark.parametrize("n", [2, 5, 11, 51])
@pytest.mark.parametrize("k", [0.1, 0.5, 1.0])
def test_gi_score_of_a_straight_line(k, n, bounds):
    magnitudes, step = np.linspace(*bounds, n), 1 / (n - 1)
    accuracies = 1 - k * np.linspace(0, 1, n)
    assert gi_score(magnitudes, accuracies) == pytest.approx(k / 3 + k * step**2 / 6)
    assert gi_score(magnitudes, accuracies, "exact") == pytest.approx(k / 3)


@pytest.mark.parametrize(("n", "pal"), [(11, 55.473684), (51, 54.654244), (100_001, 54.620690)])
def test_pal_score_of_a_straight_line(n, pal):
    assert pal_score(np.linspace(0, 1, n), 1 - np.linspace(0, 1, n)) == pytest.approx(pal, abs=1e-6)


@pytest.mark.parametrize("s", [0.25, 0.5, 0.9])
def test_a_step(s):
    t = np.linspace(0, 1, 100_001)
    accuracies = np.where(t <= s, 1.0, 0.0)
    assert gi_score(t, accuracies) == pytest.approx((1 - s) ** 2, abs=1e-4)
    if s == 0.5:
        assert pal_score(t, accuracies) == pytest.approx(59, abs=0.01)


def test_where_the_pal_score_looks():
    assert pal_score(np.array([0.0, 1.0]), np.array([0.5, 0.5])) == pytest.approx(84)
    assert pal_score(np.array([0.0, 0.3, 1.0]), np.array([1.0, 1.0, 1.0])) == pytest.approx(84)
    assert pal_score(np.linspace(0, 1, 11), np.array([0.0, 0.0, *[1.0] * 9])) == 0


def test_pcd_curve():
    t, cumulative = pcd_curve(np.array([0.0, 0.25, 0.5]), np.array([1.0, 0.5, 0.0]))
    assert t.tolist() == [0, 0.5, 1]
    assert cumulative.tolist() == [0, 0.375, 0.5]


def test_early_drops_weigh_most():
    drops = [gi_score(np.linspace(0, 1, 11), 1.0 - (np.arange(11) == i)) for i in range(1, 11)]
    assert drops == sorted(drops, reverse=True)
    t = np.linspace(0, 1, 11)[1:-1]
    assert drops[:-1] == pytest.approx(2 * (1 - t) / 10)  # 2 (1 - t) (1 - A) dt


@given(curves)
def test_bounds(accuracies):
    for method in ("trapezoid", "exact"):
        assert 0 <= gi_score(places(accuracies), accuracies, method) <= 1 + 1e-12
    assert pal_score(places(accuracies), accuracies) >= 0


@given(curves, st.floats(0.01, 1), st.sampled_from(["trapezoid", "exact"]))
def test_gi_score_is_linear_in_errors_and_pal_score_has_no_scale(accuracies, c, method):
    accuracies = np.round(accuracies, 6)
    scaled = gi_score(places(accuracies), 1 - c * (1 - accuracies), method)
    assert scaled == pytest.approx(c * gi_score(places(accuracies), accuracies, method), abs=1e-9)
    assert pal_score(places(accuracies), c * accuracies) == pytest.approx(pal_score(places(accuracies), accuracies))


@pytest.mark.rest
@given(curves)
def test_exact_is_the_limit_of_finer_grids(accuracies):
    t = places(accuracies)
    fine = np.linspace(0, 1, 200 * (len(t) - 1) + 1)
    interpolated = np.interp(fine, t, accuracies)
    assert gi_score(t, accuracies, "exact") == pytest.approx(gi_score(fine, interpolated), abs=1e-4)
    assert gi_score(fine, interpolated, "exact") == pytest.approx(gi_score(t, accuracies, "exact"), abs=1e-9)


def test_grids():
    assert grid(0, 0.5, 11)[[0, 5, 10]].tolist() == [0, 0.25, 0.5]
    assert grid(0, 0.5, 10, endpoint=False)[[0, 5, 9]].tolist() == [0, 0.25, 0.45]


@pytest.mark.parametrize("bounds", [*RANGES, (0, 5 / 11)])
@pytest.mark.parametrize("n", [2, 11, 25])
def test_fractions_give_what_floats_give(n, bounds):
    hits = np.random.default_rng(n).integers(0, 321, n)
    magnitudes, exact = np.linspace(*bounds, n), accuracies_of(hits, 320)
    for method in ("trapezoid", "exact"):
        assert gi_score(magnitudes, exact, method) == pytest.approx(gi_score(magnitudes, hits / 320, method))
    assert pal_score(magnitudes, exact) == pytest.approx(pal_score(magnitudes, hits / 320))
    assert mean_error(exact) == pytest.approx(mean_error(hits / 320))


@given(st.lists(st.integers(0, 320), min_size=11, max_size=11), st.randoms())
def test_equal_counts_in_another_order_have_the_same_mean_to_the_last_digit(hits, random):
    shuffled = random.sample(hits, len(hits))
    assert mean_error(accuracies_of(np.array(hits), 320)) == mean_error(accuracies_of(np.array(shuffled), 320))


def test_equal_areas_are_equal_to_the_last_digit():
    """Of 11 magnitudes t with step h, inner ones weigh 2 h (1 - t): an error at t = 0.4 costs as much as two at 0.7."""
    shares, values = np.linspace(0, 0.5, 11), set()
    for early, late in [(6, 0), (5, 2), (4, 4), (3, 6), (2, 8), (1, 10), (0, 12)]:
        hits = np.full(11, 300)
        hits[4] -= early
        hits[7] -= late
        values.add(gi_score(shares, accuracies_of(hits, 320)))
    assert len(values) == 1
