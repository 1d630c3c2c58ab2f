"""Tests of the area between two curves of scattered points."""

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


@pytest.mark.parametrize(
    ("first", "second", "area", "of_polygon"),
    [
        (np.zeros(400), np.ones(400), 1, 0),
        (UNIT, 1 - UNIT, 0.5, 0),
        (UNIT, UNIT + np.ptp(smoothed(UNIT, UNIT)[1]), 0.5, 0.5),
    ],
    ids=["flat: alpha is no function of beta", "crossing: both sides count, but not in the polygon", "parallel"],
)
def test_areas_in_closed_form(first, second, area, of_polygon):
    curves = (UNIT, first), (UNIT, second)
    assert area_between(*curves) == pytest.approx(area)
    assert area_between(*curves, parity_polygon=True) == pytest.approx(of_polygon, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "area"),
    [
        (([0, 2], [0, 0]), ([1, 3], [1, 1]), 1 / 3),
        ((UNIT, UNIT), (UNIT + 2, UNIT), 1),
        (([0.0], [0.0]), ([1.0], [0.0]), 1),
        (([1.0], [2.0]), ([1.0, 1.0], [3.0, 5.0]), 0),
        (([1.0], [2.0]), ([1.0], [0.0]), 0),
    ],
    ids=["only common places count", "no common place", "two points", "a place with two points", "one place"],
)
def test_curves_that_meet_in_some_places(first, second, area):
    assert area_between(first, second) == pytest.approx(area)


@given(curves)
@settings(max_examples=30)
def test_a_curve_and_itself(curve):
    assert area_between(curve, curve) == 0
    assert area_between(curve, curve, parity_polygon=True) == pytest.approx(0, abs=1e-12)


@given(curves, curves, flag, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_symmetric_within_the_box_and_whatever_the_order_of_points(first, second, polygon, random):
    area = area_between(first, second, parity_polygon=polygon)
    assert 0 <= area <= 1 + 1e-12
    assert area_between(second, first, parity_polygon=polygon) == pytest.approx(area)
    order = np.array(random.sample(range(len(first[0])), len(first[0])))
    assert area_between((first[0][order], first[1][order]), second, parity_polygon=polygon) == pytest.approx(area)


@given(curves, curves, flag, st.floats(0.01, 100), st.floats(-10, 10))
@settings(max_examples=50)
def test_invariant_to_positive_affine_changes(first, second, polygon, factor, shift):
    area = area_between(first, second, parity_polygon=polygon)
    for axis in (0, 1):
        changed = [tuple(v * factor + shift if i == axis else v for i, v in enumerate(c)) for c in (first, second)]
        assert area_between(*changed, parity_polygon=polygon) == pytest.approx(area, abs=1e-6)


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
