"""Tests of the numbers of networks that would decide a claim: closed forms."""

import math
from statistics import NormalDist

import pytest

from tests.studies.science.finding import Verdict
from tests.studies.science.judgement import NONE, by_interval, by_p_value

DECIDED = pytest.mark.parametrize(
    ("ends", "verdict"), [((0.1, 0.5), Verdict.REPRODUCED), ((-0.5, -0.1), Verdict.NOT_REPRODUCED)]
)


def number(said: tuple[Verdict, str]) -> float:
    assert said[0] is Verdict.UNDECIDED
    return float(said[1].removeprefix("about ").split(" ")[0].replace(",", ""))


@DECIDED
def test_what_is_decided_needs_nothing(ends: tuple[float, float], verdict: Verdict) -> None:
    assert by_interval(sum(ends) / 2, ends, 10) == (verdict, "")


@pytest.mark.parametrize("sign", [1, -1])
def test_twice_the_half_width_needs_four_times_the_networks(sign: int) -> None:
    """With four times as many networks, an interval of 0.1 +- 0.2 would end at the deciding value."""
    low, high = sorted((sign * 0.3, sign * -0.1))
    assert number(by_interval(sign * 0.1, (low, high), 10)) == 40
    assert number(by_interval(5 + sign * 0.1, (5 + low, 5 + high), 10, nothing=5.0)) == 40


def test_the_end_that_faces_the_value_counts() -> None:
    assert number(by_interval(0.1, (-0.2, 0.9), 10)) == 90
    assert number(by_interval(-0.1, (-0.9, 0.2), 10)) == 90


def test_an_interval_that_ends_at_the_value_is_undecided() -> None:
    assert by_interval(0.5, (0.0, 1.0), 10, "images") == (Verdict.UNDECIDED, "about 10 images")


def test_no_number_is_said_where_the_estimate_is_the_value() -> None:
    assert by_interval(0.0, (-1.0, 1.0), 10) == (Verdict.UNDECIDED, NONE)


def test_the_mean_of_normal_numbers_is_significant_with_the_number_said() -> None:
    """A mean of 0.3 over n numbers with standard deviation 1 has z = 0.3 sqrt(n)."""
    normal = NormalDist()
    needed = (normal.inv_cdf(0.95) / 0.3) ** 2  # 30.06
    assert number(by_p_value(1 - normal.cdf(0.3 * math.sqrt(10)), 0.05, 10)) == math.ceil(needed)


@pytest.mark.parametrize("p_value", [0.5, 0.9, 1.0])
def test_no_number_is_said_where_the_estimate_is_at_chance_or_below(p_value: float) -> None:
    assert by_p_value(p_value, 0.05, 10) == (Verdict.UNDECIDED, NONE)


def test_p_values_below_the_level_decide() -> None:
    assert by_p_value(0.04, 0.05, 10) == (Verdict.REPRODUCED, "")


@pytest.mark.parametrize(("half", "said"), [(1.0, "10"), (1.05, "12"), (3.21, "110"), (11.1, "1,300")])
def test_numbers_are_rounded_up_to_two_digits(half: float, said: str) -> None:
    assert by_interval(1.0, (1 - half, 9.0), 10)[1] == f"about {said} networks"
