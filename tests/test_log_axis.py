"""Tests of logarithmic axes: they have labels, which do not overlap."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.ticker import EngFormatter

from harness.plots import new_figure, use_log_scale

PLAIN, ENGINEER = "{:g}".format, EngFormatter(sep="")


@pytest.mark.parametrize(
    ("low", "high", "label"),
    [
        (1e-300, 1, PLAIN), (1e-12, 1, PLAIN), (0.003, 900, PLAIN), (3, 200, PLAIN), (21, 48, PLAIN),
        (1.02, 1.03, PLAIN), (1234, 8_765_432, ENGINEER), (20_000, 150_000, ENGINEER),
    ],
)  # fmt: skip
def test_labels_of_a_drawn_axis_do_not_overlap(low: float, high: float, label: Callable[[float], str]) -> None:
    with new_figure(3.4, 2.3) as figure:
        axes = figure.subplots()
        axes.plot([low, high], [low, high])
        use_log_scale(axes.xaxis, label)
        use_log_scale(axes.yaxis, label)
        FigureCanvasAgg(figure).draw()
        for axis in (axes.xaxis, axes.yaxis):
            start, end = axis.get_view_interval()
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            labels = [one.label1 for one in ticks if start <= one.get_loc() <= end and one.label1.get_text()]
            boxes = sorted((one.get_window_extent() for one in labels), key=lambda box: (box.x0, box.y0))
            assert not any(one.overlaps(other) for one, other in pairwise(boxes))
            assert len(labels) >= 2
