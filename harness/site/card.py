"""The preview picture of a site, which other websites show beside a link.

Versions of Matplotlib draw different bytes, so `pgdl verify` does not compare the picture.
"""

import io
from importlib.util import find_spec

from harness.board.board import Board
from harness.board.verdict import verdict
from harness.site.axis import board_axis
from harness.text import cut

CARD = "card.png"

#: Size in inches, and dots per inch: 1200 x 630 pixels.
WIDTH, HEIGHT, DPI = 8.0, 4.2, 150

#: Maximum number of rows in the picture, and of characters of a name.
MOST, LONGEST = 5, 30


def draw_card(board: Board, title: str) -> bytes | None:
    """Return the picture of a board as PNG, or None if Matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return None
    from harness.plots import CHANCE, COLOUR, FAINT, INK, new_figure

    lead = "".join(words.text for words in verdict(board, [""] * len(board.rows)).lead)
    axis = board_axis(board)
    with new_figure(WIDTH, HEIGHT) as figure:
        figure.set_layout_engine("none")
        axes = figure.add_axes((0.05, 0.05, 0.9, 0.9), xlim=(0, 100), ylim=(MOST + 2.6, -0.2))
        axes.axis("off")
        axes.text(0, 0.3, cut(title, 60), size=13, color=FAINT)
        axes.text(0, 1.3, cut(lead, 44), size=21, weight="bold", color=INK)
        for place, row in enumerate(board.rows[:MOST], start=2):
            axes.text(0, place + 0.5, cut(row.label, LONGEST), size=12, va="center", color=INK)
            if row.score is None:
                continue
            axes.text(52, place + 0.5, f"{row.score:.1f}", size=12, va="center", ha="right", weight="bold", color=INK)
            if row.standing is not None:
                ends = [55 + 0.45 * axis.place(points) for points in (row.standing.low, row.standing.high)]
                axes.plot(ends, [place + 0.5] * 2, color=COLOUR, linewidth=9, alpha=0.35, solid_capstyle="round")
            at = 55 + 0.45 * axis.place(row.score)
            axes.plot([at, at], [place + 0.35, place + 0.65], color=COLOUR, linewidth=4, solid_capstyle="round")
        if axis.chance is not None:
            at = 55 + 0.45 * axis.place(axis.chance)
            axes.plot([at, at], [2, MOST + 2.1], color=CHANCE, linestyle="--", linewidth=1)
            axes.text(at, MOST + 2.45, "chance", size=10, ha="center", color=CHANCE)
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=DPI)
        return stream.getvalue()
