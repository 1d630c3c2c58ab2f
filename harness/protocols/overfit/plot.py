"""Plots the overfitting test's p-values against the largest shift of an image."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.plots import COLOUR, FAINT, INK, Axes, new_figure, use_log_scale, write_pictures
from harness.protocols.overfit.rows import Group, OverfitGroup, OverfitRow

FLOOR = 1e-300  #: smaller p-values are drawn at this value; floats round them to 0
SMALL = 0.01  #: if a p-value is smaller, the axis is logarithmic
MARKERS = "sD^vP*X<>"  #: markers of architectures


def write_plots(rows: Sequence[OverfitRow], title: str, stem: Path) -> list[Path]:
    """Write the plot to `stem` with suffix `.svg` and `.png`; return both paths."""
    groups = list(dict.fromkeys(row.group for row in rows))
    with new_figure(6.4, 3.4) as figure:
        axes = figure.subplots()
        for number, group in enumerate(groups):
            own = [row for row in rows if row.group == group]
            p_values = [max(row.p_value, FLOOR) for row in own]
            axes.plot([row.epsilon for row in own], p_values, **_style(group, number, len(groups)))
        _finish_axes(axes, rows)
        axes.set_title(title, loc="left")
        figure.legend(loc="outside right upper", frameon=False)
        return write_pictures(figure, stem)


def _style(group: Group, number: int, n_groups: int) -> dict[str, Any]:
    if group.kind is OverfitGroup.ALL:
        return {"color": COLOUR, "linewidth": 2.5, "marker": "o", "zorder": 4, "label": group.label}
    if group.kind is OverfitGroup.ARCHITECTURE:
        marker = MARKERS[(number - 1) % len(MARKERS)]
        return {"color": INK, "linewidth": 1, "marker": marker, "markersize": 5, "zorder": 3, "label": group.label}
    if n_groups == 1:
        return {"color": COLOUR, "linewidth": 2, "marker": "o", "label": group.label}
    is_last = number == n_groups - 1
    style = {"color": FAINT, "linewidth": 0.7, "marker": ".", "markersize": 4, "alpha": 0.6, "zorder": 2}
    return style | {"label": "each model alone" if is_last else None}


def _finish_axes(axes: Axes, rows: Sequence[OverfitRow]) -> None:
    smallest = min(row.p_value for row in rows)
    if smallest < SMALL:
        use_log_scale(axes.yaxis)
        axes.set_ylim(max(smallest, FLOOR) ** 1.05, 1.5)
    else:
        axes.set_ylim(0, 1.04)
    axes.axhline(0.05, color=INK, linewidth=0.7, linestyle=":", zorder=1)
    beside: dict[str, Any] = {"xytext": (2, 0), "textcoords": "offset points", "va": "center", "fontsize": 7}
    axes.annotate("0.05", (1, 0.05), xycoords=("axes fraction", "data"), **beside)
    axes.set_xticks(sorted({row.epsilon for row in rows}))
    axes.set_xlabel("epsilon: largest shift in pixels")
    axes.set_ylabel("p-value of independence")
