"""Area between two curves of scattered points."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.integrate import quad

from baselines.neural_activation.area import area_between, smoothed

UNIT = np.linspace(0, 1, 400)


def points(seed, n):
    draw = np.random.default_rng(seed)
    alpha = draw.random(n)
    return alpha, np.sin(3 * alpha) * draw.normal() + 0.1 * draw.normal(size=n) + draw.normal()


curves = st.builds(points, st.integers(0, 10_000), st.integers(1, 300))
flag = st.booleans()


def test_flat_curves_at_both_ends_of_the_box():
    assert area_between((UNIT, np.zeros(400)), (UNIT, np.ones(400))) == pytest.approx(1)


def test_both_sides_of_a_crossing_count_but_not_in_the_polygon():
    rising, falling = (UNIT, UNIT), (UNIT, 1 - UNIT)
    assert area_between(rising, falling) == pytest.approx(0.5)
    assert area_between(rising, falling, parity_polygon=True) == pytest.approx(0, abs=1e-12)


def test_parallel_curves_have_the_same_area_either_way():
    low, high = (UNIT, UNIT), (UNIT, UNIT + np.ptp(smoothed(UNIT, UNIT)[1]))
    assert area_between(low, high) == pytest.approx(0.5)
    assert area_between(low, high, parity_polygon=True) == pytest.approx(0.5)


def test_only_common_places_count():
    assert area_between(([0, 2], [0, 0]), ([1, 3], [1, 1])) == pytest.approx(1 / 3)


def test_curves_without_a_common_place():
    assert area_between((UNIT, UNIT), (UNIT + 2, UNIT)) == 1
    assert area_between(([0.0], [0.0]), ([1.0], [0.0])) == 1


@pytest.mark.parametrize("second", [([1.0, 1.0], [3.0, 5.0]), ([1.0], [0.0])])
def test_points_in_one_place_have_no_area(second):
    assert area_between(([1.0], [2.0]), second) == 0


@given(curves)
@settings(max_examples=30, deadline=None)
def test_a_curve_and_itself(curve):
    assert area_between(curve, curve) == 0
    assert area_between(curve, curve, parity_polygon=True) == pytest.approx(0, abs=1e-12)


@given(curves, curves, flag)
@settings(max_examples=50, deadline=None)
def test_symmetric_and_within_the_box(first, second, polygon):
    area = area_between(first, second, parity_polygon=polygon)
    assert 0 <= area <= 1 + 1e-12
    assert area_between(second, first, parity_polygon=polygon) == pytest.approx(area)


@given(curves, curves, flag, st.floats(0.01, 100), st.floats(-10, 10))
@settings(max_examples=50, deadline=None)
def test_invariant_to_positive_affine_changes(first, second, polygon, factor, shift):
    area = area_between(first, second, parity_polygon=polygon)
    for axis in (0, 1):
        changed = [tuple(v * factor + shift if i == axis else v for i, v in enumerate(c)) for c in (first, second)]
        assert area_between(*changed, parity_polygon=polygon) == pytest.approx(area, abs=1e-6)


@given(curves, curves, flag, st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_the_order_of_points_does_not_matter(first, second, polygon, random):
    order = np.array(random.sample(range(len(first[0])), len(first[0])))
    mixed = first[0][order], first[1][order]
    same = area_between(first, second, parity_polygon=polygon)
    assert area_between(mixed, second, parity_polygon=polygon) == pytest.approx(same)


def test_the_absolute_difference_is_integrated_exactly():
    alpha = np.linspace(0, 1, 3)  # not smoothed
    first, second = (alpha, np.array([0, 1, 0.25])), (alpha, np.array([0.5, 0, 1]))
    expected = quad(lambda a: abs(np.interp(a, *first) - np.interp(a, *second)), 0, 1, points=[0.5])[0]
    assert area_between(first, second) == pytest.approx(expected, rel=1e-3)  # the corner lies between two places


def test_smoothing():
    alpha, beta = smoothed(np.array([3.0, 1, 2, 1]), np.array([5.0, 0, 7, 4]))
    assert (alpha == [1, 2, 3]).all()
    assert (beta == [2, 7, 5]).all()  # points at the same place are merged
    assert [len(smoothed(UNIT[:n], UNIT[:n])[0]) for n in (1, 7, 8, 100, 200)] == [1, 7, 7, 76, 176]
    alpha, beta = smoothed(UNIT, UNIT**2)
    assert alpha[0] == pytest.approx(UNIT[:25].mean())
    assert beta[-1] == pytest.approx((UNIT[-25:] ** 2).mean())
