"""A comparison of measures as a plot: a dot per measure, family by family."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from harness.board.comparison import MeasureRow
from harness.plots import COLOUR, STYLE


def write_plot(rows: Sequence[MeasureRow], paths: Sequence[Path]) -> None:
    """Draw the mean scores by family; the best measure of each is named, dots that lack a task are hollow.

    The suffix of each path says the format. The same rows make the same files.
    """
    families = list(dict.fromkeys(row.family for row in rows))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 0.8 + 0.5 * len(families)), layout="constrained")
        axes = figure.subplots()
        for place, family in enumerate(families):
            _draw(axes, place, [row for row in rows if row.family == family and row.score is not None])
        axes.set_yticks(range(len(families)), families)
        hollow = "" if all(row.complete for row in rows) else " (hollow: not of every task)"
        axes.set(xlabel=f"mean official score{hollow}", ylim=(len(families) - 0.5, -0.5))
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        for path in paths:
            figure.savefig(path, dpi=200, metadata={"Date": None} if path.suffix == ".svg" else {})


def _draw(axes: Any, place: int, rows: Sequence[MeasureRow]) -> None:
    """Draw a family's dots, best first from top to bottom, so that equal ones can be told apart."""
    heights = place + (np.linspace(-0.2, 0.2, len(rows)) if len(rows) > 1 else np.zeros(len(rows)))
    for row, height in zip(rows, heights, strict=True):
        axes.scatter(row.score, height, s=16, facecolor=COLOUR if row.complete else "none", edgecolor=COLOUR)
    if rows:
        where = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": 7}
        axes.annotate(rows[0].measure, (rows[0].score, heights[0]), **where)
