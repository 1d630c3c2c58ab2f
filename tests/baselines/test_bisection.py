"""Bisection: what it asks for, and where it ends."""

import math

import pytest

from baselines.core.bisection import bisect


def test_the_interval_is_halved_around_the_place():
    asked = []
    found = bisect(lambda value: asked.append(value) or value > 0.3, 0.0, 1.0, 4)
    assert asked == [0.5, 0.25, 0.375, 0.3125]
    assert found == (0.25, 0.3125, 0.3125)


def test_a_middle_of_another_kind():
    found = bisect(lambda value: value > 1e-3, 1e-6, 1.0, 50, middle=lambda low, high: math.sqrt(low * high))
    assert found.low <= 1e-3 < found.high == pytest.approx(1e-3)


def test_it_ends_where_it_is_told_to():
    asked = []
    found = bisect(lambda value: asked.append(value) or True, 0.0, 1.0, 9, is_enough=lambda low, high, _: high < 0.2)
    assert (len(asked), found.high, found.tried) == (3, 0.125, 0.125)
