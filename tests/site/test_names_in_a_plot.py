"""Tests of names in a plot: they stand beside dots with room for them, and ringed dots get their names first."""

import pytest

from harness.site.axis import Axis
from harness.site.drawing import Dot, Drawing, View


def named(*places: tuple[float, float], ringed: int | None = None) -> dict[str, str]:
    """Return name -> side of the dot on which the name stands; `places` (x, y) of dots are between 0 and 100."""
    dots = [Dot("", [0], name=f"dot_{number}", is_ringed=number == ringed) for number in range(len(places))]
    view = View(Axis(0, 100), Axis(0, 100), "x", "y", places)
    return {name: side for _, _, side, name in Drawing("time", dots, {"time": view}).names}


def test_dots_far_apart_all_have_names() -> None:
    assert named((10, 10), (50, 50), (10, 90)) == {"dot_0": "start", "dot_1": "start", "dot_2": "start"}


def test_a_name_stands_on_the_side_with_room() -> None:
    assert named((99, 50)) == {"dot_0": "end"}


def test_no_name_stands_on_the_label_of_a_tick() -> None:
    assert named((18, 50)) == {"dot_0": "start"}
    assert named((18, 0)) == {"dot_0": "end"}


def test_a_name_without_room_is_left_out() -> None:
    assert named((50, 50), (48, 50), (52, 50)) == {"dot_1": "end", "dot_2": "start"}


@pytest.mark.parametrize("ringed", [0, 1])
def test_a_ringed_dot_goes_first(ringed: int) -> None:
    assert f"dot_{ringed}" in named((0, 50), (0, 51), ringed=ringed)
    assert len(named((0, 50), (0, 51), ringed=ringed)) == 1
