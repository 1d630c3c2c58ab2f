"""Tests of bisection, and of the search for the largest scale that does little harm."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from baselines.core.bisection import bisect
from baselines.sharpness.search import INTERVAL, LARGEST, SMALLEST, largest_harmless

BEGIN = st.floats(SMALLEST, LARGEST)
INSIDE = st.floats(1e-5, 1.9)


def counting(margins, asked):
    """Return a wrapper of `function` that appends each requested scale to a list."""
    return lambda scale: asked.append(scale) or margins(scale)


def is_at(found, place):
    return abs(found / place - 1) <= 1e-3


def is_about_at(found, place):
    return abs(found / place - 1) <= INTERVAL


@given(INSIDE, BEGIN)
def test_a_step_is_found(place, begin):
    step = lambda scale: np.array([1.0 if scale <= place else -1.0])  # noqa: E731
    assert is_about_at(largest_harmless(step, np.ones(1), 0, begin), place)


@given(INSIDE, BEGIN, st.floats(0.3, 6), st.floats(1e-9, 1e9))
@example(1e-5, 1.890625, 4.0, 1.0)
def test_a_margin_that_falls_as_a_power_is_found_quickly(place, begin, power, unit):
    asked = []
    margins = counting(lambda scale: np.array([unit * (1 - (scale / place) ** power)]), asked)
    assert is_at(largest_harmless(margins, np.array([unit]), 0, begin), place)
    assert len(asked) <= 16


@pytest.mark.parametrize("power", [1, 2, 3])
def test_a_scale_that_is_not_far_takes_few_questions(power):
    asked = []
    largest_harmless(counting(lambda scale: np.array([1 - (scale / 0.03) ** power]), asked), np.ones(1), 0, 0.01)
    assert len(asked) <= 6


@given(st.integers(0, 99), BEGIN)
def test_it_ends_between_a_harmless_scale_and_the_smallest_one_that_was_found_harmful(seed, begin):
    rng, lost = np.random.default_rng(seed), {SMALLEST: 0}

    def margins(scale):
        lost[scale] = min(int(rng.poisson(30 * scale**0.5)), 100)
        return np.repeat([-1.0, 1.0], [lost[scale], 100 - lost[scale]])

    found = largest_harmless(margins, np.ones(100), 0.1, begin)
    harmful = min((scale for scale, number in lost.items() if number > 10), default=np.inf)
    harmless = max(scale for scale, number in lost.items() if number <= 10 and scale < harmful)
    assert found == harmless == LARGEST or harmless <= found < harmful <= harmless * (1 + 2 * INTERVAL)


#: Margins of ten answers, the first two of which are wrong, and where each of the others is lost.
STILL = np.array([-1.0, -0.1, 1, 1, 2, 2, 3, 3, 4, 4])
PLACES = np.array([0.001, 0.002, 0.02, 0.04, 0.06, 0.08, 0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(("drop", "place"), [(0, 0.02), (0.1, 0.04), (0.2, 0.06), (0.29, 0.06), (0.7, 0.4)])
def test_so_many_right_answers_may_be_lost(drop, place):
    def margins(scale):
        return np.where(STILL > 0, STILL * (1 - scale / PLACES), STILL)

    assert is_at(largest_harmless(margins, STILL, drop, 0.01), place)


@pytest.mark.parametrize("drop", [0.8, 0.9, 1])
def test_nothing_does_harm_where_all_that_is_right_may_be_lost(drop):
    assert largest_harmless(lambda scale: -np.ones(10), STILL, drop, 0.01) == LARGEST


def test_answers_that_become_right_make_up_for_others():
    margins = lambda scale: np.array([1 - scale / 0.1, scale / 0.05 - 1])  # noqa: E731
    assert largest_harmless(margins, np.array([1.0, -1.0]), 0, 0.01) == LARGEST


@pytest.mark.parametrize("lost", [-np.inf, -1e300, -1.0, 0.0])
def test_nothing_is_left_everywhere(lost):
    assert largest_harmless(lambda _: np.array([lost]), np.ones(1), 0, 0.01) == SMALLEST


def test_no_scale_above_the_largest_one_is_tried():
    asked = []
    assert largest_harmless(counting(lambda _: np.ones(1), asked), np.ones(1), 0, 0.3, 0.3) == pytest.approx(0.3)
    assert asked == [pytest.approx(0.3, rel=1e-12)]


def test_bisection_halves_the_interval_until_it_is_told_to_end():
    asked = []
    found = bisect(lambda value: asked.append(value) or value > 0.3, 0.0, 1.0, 4)
    assert asked == [0.5, 0.25, 0.375, 0.3125]
    assert found == (0.25, 0.3125, 0.3125)
    found = bisect(lambda value: value > 1e-3, 1e-6, 1.0, 50, middle=lambda low, high: math.sqrt(low * high))
    assert found.low <= 1e-3 < found.high == pytest.approx(1e-3)
    asked.clear()
    found = bisect(lambda value: asked.append(value) or True, 0.0, 1.0, 9, is_enough=lambda low, high, _: high < 0.2)
    assert (len(asked), found.high, found.tried) == (3, 0.125, 0.125)
