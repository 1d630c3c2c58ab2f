"""Tests of ticks on logarithmic axes: at 1, 2 and 5, and never so many that labels overlap."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.ticker import EngFormatter

from harness.log_axis import PLAIN, log_ticks, use_log_scale
from harness.plots import new_figure


@pytest.mark.parametrize(
    ("low", "high", "room", "expected"),
    [
        (0.3, 40, 0.2, [0.5, 1, 2, 5, 10, 20]),
        (0.3, 40, 0.35, [1, 10]),
        (2, 8, 0.35, [2, 5]),
        (1e-9, 1, 1.5, [1e-8, 1e-6, 1e-4, 1e-2, 1]),
        (1e-300, 1, 30, [1e-300, 1e-250, 1e-200, 1e-150, 1e-100, 1e-50, 1]),
        (21, 48, 0.1, [30, 40]),
        (3, 3, 0.1, []),
        (2, 2, 0.1, [2]),
    ],
)
def test_ticks(low: float, high: float, room: float, expected: list[float]) -> None:
    assert log_ticks(low, high, room) == pytest.approx(expected)


@given(st.floats(-300, 300), st.floats(0, 300), st.floats(0, 100))
def test_ticks_lie_in_the_range_and_are_never_too_close(exponent: float, decades: float, room: float) -> None:
    low, high = 10**exponent, 10 ** min(exponent + decades, 300)
    ticks = log_ticks(low, high, room)
    assert all(low * (1 - 1e-9) <= tick <= high * (1 + 1e-9) for tick in ticks)
    assert all(math.log10(other / one) >= room for one, other in pairwise(ticks))


@pytest.mark.rest
@pytest.mark.parametrize("which", ["x", "y"])
@pytest.mark.parametrize("inches", [1.2, 2.0, 3.6, 7.0])
@pytest.mark.parametrize(("low", "high"), [(1e-12, 1), (0.003, 900), (21, 48), (1.02, 1.03), (1234, 8_765_432)])
@pytest.mark.parametrize("formatter", [PLAIN, EngFormatter(sep="")], ids=["plain", "engineer"])
def test_labels_of_a_drawn_axis_do_not_overlap(
    which: str, inches: float, low: float, high: float, formatter: EngFormatter
) -> None:
    with new_figure(inches, inches) as figure:
        axes = figure.subplots()
        axes.plot([low, high], [low, high])
        axis = getattr(axes, f"{which}axis")
        use_log_scale(axis, formatter)
        FigureCanvasAgg(figure).draw()
        start, end = axis.get_view_interval()
        labels = [tick.label1 for tick in axis.get_major_ticks() if start <= tick.get_loc() <= end]
    boxes = [label.get_window_extent() for label in labels]
    assert all(label.get_text() for label in labels)
    assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    assert len(labels) >= (1 if inches < 2 else 2)
