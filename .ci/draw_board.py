"""Draw a leaderboard, which `pgdl board --format json` prints to standard input, as an SVG on standard output.

Times are left out: they are those of one machine.
"""

import json
import sys
from typing import Any, TextIO

from harness.plots import COLOUR, FAINT, INK, new_figure, svg_file
from harness.text import p_value_text

Row = dict[str, Any]

#: Inches: a character of the fixed-width font, a line, the margin, and the drawing of scores and intervals.
CHARACTER, LINE, MARGIN, DRAWING = 0.088, 0.25, 0.2, 1.6

#: Columns of text; the others hold numbers.
LEFT = (1, 2)


def main() -> None:
    """Read, draw, write."""
    print(draw(sys.stdin))


def draw(table: TextIO) -> str:
    """Return the SVG of a board in JSON; the noisy oracle and the fit of the hyperparameters stand below all others."""
    board = json.load(table)
    tasks = list(board["oracle"]["tasks"])
    in_sample = board["hyperparameters"]["in_sample"]
    fit = _reference("hyperparameters", in_sample["score"], in_sample["tasks"])
    rows = [*board["rows"], _oracle(board["oracle"]), fit]
    lines = [["rank", "submission", "", "score", *tasks, "excess", "p", "ranks"], *(_cells(row, tasks) for row in rows)]
    lengths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    start = MARGIN + CHARACTER * (sum(lengths) + 2 * len(lengths))
    width, height = start + DRAWING + MARGIN, 2 * MARGIN + LINE * len(lines)
    with new_figure(width, height) as figure:
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        axes.plot([MARGIN, width - MARGIN], [MARGIN + LINE] * 2, color=FAINT, linewidth=0.6)
        for place, line in enumerate(lines):
            kind = rows[place - 1]["kind"] if place else "heading"
            _write(axes, line, lengths, MARGIN + LINE * (place + 0.5), kind)
        scale = DRAWING / (max(map(_high, rows)) or 1)
        for place, row in enumerate(rows, start=1):
            if row["score"] is not None:
                _mark(axes, row, start, scale, MARGIN + LINE * (place + 0.5))
        return svg_file(figure)


def _oracle(oracle: Row) -> Row:
    """The row of the oracle, with an interval of one standard deviation to each side of its score."""
    score, tasks = oracle["score"], oracle["tasks"].items()
    drawn = score and {"low": score["mean"] - score["deviation"], "high": score["mean"] + score["deviation"]}
    return _reference(
        "noisy oracle", score and score["mean"], {name: one and one["mean"] for name, one in tasks}, drawn
    )


def _reference(name: str, score: float | None, tasks: dict[str, float | None], drawn: Row | None = None) -> Row:
    """A row without a rank."""
    return {
        "rank": None, "submission": name, "kind": "reference", "score": score,
        "tasks": {task: {"official": official} for task, official in tasks.items()}, "standing": drawn,
        "excess": None, "adjusted_p_value": None,
    }  # fmt: skip


def _high(row: Row) -> float:
    return float(row["standing"]["high"] if row["standing"] else row["score"] or 0)


def _cells(row: Row, tasks: list[str]) -> list[str]:
    kind = "" if row["kind"] == "submission" else row["kind"]
    scores = [row["score"], *(row["tasks"][name].get("official") for name in tasks)]
    numbers = ["-" if score is None else f"{score:.2f}" for score in scores]
    standing = row["standing"] or {}
    excess = "-" if row["excess"] is None else f"{row['excess']:.2f}"
    ranks = "-".join(dict.fromkeys(str(standing[end]) for end in ("best_rank", "worst_rank") if end in standing)) or "-"
    p_value = p_value_text(row["adjusted_p_value"])
    return [str(row["rank"] or "-"), row["submission"], kind, *numbers, excess, p_value, ranks]


def _write(axes: Any, cells: list[str], lengths: list[int], y: float, kind: str) -> None:
    """Write one line; numbers end where their column ends, so no width of a font matters."""
    x = MARGIN
    for number, (cell, length) in enumerate(zip(cells, lengths, strict=True)):
        bold = kind == "heading" or (kind == "submission" and number in (1, 3))
        style = {"weight": "bold" if bold else "normal", "color": FAINT if number == LEFT[1] else INK}
        where, side = (x, "left") if number in LEFT else (x + CHARACTER * length, "right")
        text = cell.replace("$", r"\$")  # no formula
        axes.text(where, y, text, ha=side, va="center_baseline", family="monospace", size=10, **style)
        x += CHARACTER * (length + 2)


def _mark(axes: Any, row: Row, start: float, scale: float, y: float) -> None:
    """Draw the score as a dot on its interval, if it has one."""
    colour = COLOUR if row["kind"] == "submission" else FAINT
    axes.plot(start + scale * row["score"], y, marker="o", markersize=7, color=colour, gid=f"score-{row['submission']}")
    if row["standing"]:
        ends = [start + scale * row["standing"][end] for end in ("low", "high")]
        axes.plot(ends, [y, y], color=colour, linewidth=2, gid=f"interval-{row['submission']}")


if __name__ == "__main__":
    main()
