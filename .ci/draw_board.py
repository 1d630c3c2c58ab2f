"""Draws a leaderboard as SVG: `pgdl board --format json | draw_board.py > board.svg`.

As on the first page of a site, all scores and intervals share an axis. Scores on tasks are darker, the more they exceed
the level of chance.
"""

import json
import statistics
import sys
from typing import Any, TextIO

from harness.plots import CHANCE, COLOUR, FAINT, INK, Figure, new_figure, svg_file
from harness.text import printable

Row = dict[str, Any]

#: In inches: heights of a row and of the head, and the margin; positions of columns; widths of the axis and of a task.
LINE, HEAD, MARGIN = 0.36, 0.62, 0.15
RANK, NAME, SCORE, AXIS = 0.45, 0.65, 4.15, 4.4
DRAWING, TASK = 2.6, 0.78

#: Shown in place of a missing value.
DASH = "\N{EN DASH}"

#: Opacity of the darkest score on a task.
SHADE = 0.45


def main() -> None:
    """Read a board as JSON from standard input, and print it as SVG."""
    print(draw(sys.stdin))


def draw(table: TextIO) -> str:
    """Return as SVG the board that `table` holds as JSON; a band shows the score of the noisy oracle."""
    board = json.load(table)
    rows, tasks = board["rows"], list(board["oracle"]["tasks"])
    width = AXIS + DRAWING + 0.25 + TASK * len(tasks) + MARGIN
    with new_figure(width, HEAD + LINE * len(rows) + MARGIN) as figure:
        axes = _page(figure)
        scale = DRAWING / (max(map(_high, rows), default=0) or 1)
        bottom = HEAD + LINE * len(rows)
        _head(axes, board, tasks, scale, bottom)
        most = max((excess for row in rows for excess in map(_excess, row["tasks"].values())), default=0) or 1
        for place, row in enumerate(rows):
            y = HEAD + LINE * (place + 0.5)
            axes.plot([MARGIN, width - MARGIN], [y + LINE / 2] * 2, color=FAINT, linewidth=0.3)
            _row(axes, row, scale, y)
            for number, task in enumerate(tasks):
                _task(axes, row["tasks"][task], most, AXIS + DRAWING + 0.25 + TASK * number, y)
        return svg_file(figure)


def _page(figure: Figure) -> Any:
    """Return Matplotlib axes in inches, with the origin in the upper left corner."""
    figure.set_layout_engine("none")
    width, height = figure.get_size_inches()
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    return axes


def _head(axes: Any, board: Row, tasks: list[str], scale: float, bottom: float) -> None:
    base = HEAD - 0.1
    for x, text, side in ((RANK, "rank", "right"), (NAME, "submission", "left"), (SCORE, "score", "right")):
        _write(axes, x, base, text, side, color=FAINT)
    for number, name in enumerate(tasks):
        _write(axes, AXIS + DRAWING + 0.25 + TASK * (number + 0.5), base, name, "center", color=FAINT, size=7)
    levels = [row["chance"] for row in board["rows"] if row.get("chance") is not None]
    if levels:
        x = AXIS + scale * statistics.median(levels)
        axes.plot([x, x], [HEAD, bottom], color=CHANCE, linewidth=0.8, linestyle=(0, (3, 2)))
        _write(axes, x, base, "chance", "center", color=CHANCE, size=8)
    oracle = board["oracle"]["score"]
    if oracle and (oracle["mean"] + oracle["deviation"]) * scale <= DRAWING:
        low, high = ((oracle["mean"] + sign * oracle["deviation"]) * scale for sign in (-1, 1))
        axes.fill_between([AXIS + low, AXIS + high], HEAD, bottom, color=FAINT, alpha=0.15, linewidth=0)
        _write(axes, AXIS + (low + high) / 2, base, "noisy oracle", "center", color=FAINT, size=8)


def _row(axes: Any, row: Row, scale: float, y: float) -> None:
    may_be_chance = row["adjusted_p_value"] is None or row["adjusted_p_value"] > 0.05
    looks: Row = {"color": FAINT if may_be_chance else INK, "weight": "normal" if may_be_chance else "bold"}
    _write(axes, RANK, y, str(row["rank"] or DASH), "right", **looks)
    kind = "" if row["kind"] == "submission" else row["kind"]
    _write(axes, NAME, y, row["submission"], "left", **looks)
    _write(axes, SCORE - 0.6, y, kind, "right", color=FAINT, size=8)
    _write(axes, SCORE, y, DASH if row["score"] is None else f"{row['score']:.1f}", "right", **looks)
    opacity = 0.5 if may_be_chance else 1
    if row["standing"]:
        ends = [AXIS + scale * row["standing"][end] for end in ("low", "high")]
        line = {"linewidth": 6, "solid_capstyle": "round", "alpha": 0.35 * opacity}
        axes.plot(ends, [y, y], color=COLOUR, gid=f"interval-{row['submission']}", **line)
    if row["score"] is not None:
        mark = {"linewidth": 3, "solid_capstyle": "round", "alpha": opacity, "gid": f"score-{row['submission']}"}
        axes.plot([AXIS + scale * row["score"]] * 2, [y - 0.07, y + 0.07], color=COLOUR, **mark)


def _task(axes: Any, task: Row, most: float, x: float, y: float) -> None:
    official = task.get("official")
    box = ([x + 0.04, x + TASK - 0.04], y - LINE / 2 + 0.05, y + LINE / 2 - 0.05)
    axes.fill_between(*box, color=COLOUR, alpha=SHADE * max(0.0, _excess(task)) / most, linewidth=0)
    _write(axes, x + TASK / 2, y, DASH if official is None else f"{official:.1f}", "center", size=9)


def _excess(task: Row) -> float:
    """Return the score on a task minus the level of chance, in points; 0 without a score or without a level."""
    official, chance = task.get("official"), task.get("chance")
    return 0.0 if official is None or chance is None else float(official - chance)


def _high(row: Row) -> float:
    return float(row["standing"]["high"] if row["standing"] else row["score"] or 0)


def _write(axes: Any, x: float, y: float, text: str, side: str, **looks: Any) -> None:
    shown = printable(text).replace("$", r"\$")  # no formula
    axes.text(x, y, shown, ha=side, va="center_baseline", **{"size": 10, "color": INK} | looks)


if __name__ == "__main__":
    main()
