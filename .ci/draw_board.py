"""Draw a leaderboard, which `pgdl board --format json` prints to standard input, as an SVG on standard output.

Times are left out: they are those of one machine. The picture needs no other file and no network, and follows the
reader's light or dark mode.
"""

import json
import sys
from html import escape
from typing import Any, NamedTuple, TextIO

Row = dict[str, Any]

#: Pixels: a character of the fixed-width font, a line, the margin, and the drawing of scores and intervals.
CHARACTER, LINE, MARGIN, DRAWING = 8.45, 24, 20, 150

NAMESPACE = "http://www.w3.org/2000/svg"

STYLE = """
  .paper { fill: #fffffe } text { fill: #222222 } .faint { fill: #646b76 } .rule { stroke: #cfd3d9 }
  .mark { fill: #8a8f98 } .submission.mark { fill: #2f6f9f } .submission, .heading { font-weight: bold }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #15181d } text { fill: #e4e6ea } .faint { fill: #a2a8b2 } .rule { stroke: #3a4049 }
    .mark { fill: #7d838d } .submission.mark { fill: #69b1e4 }
  }
"""


class Column(NamedTuple):
    """One column: its beginning and end in pixels, whether it holds numbers, and its cells, heading first."""

    start: float
    end: float
    number: bool
    cells: list[str]


def main() -> None:
    """Read, draw, write."""
    print(draw(sys.stdin))


def draw(table: TextIO) -> str:
    """Return the SVG of a board in JSON; the noisy oracle stands below all others."""
    board = json.load(table)
    tasks = list(board["oracle"]["tasks"])
    rows = [*board["rows"], _reference(board["oracle"])]
    texts = [["rank", "submission", "", "score", *tasks, "ranks"], *(_cells(row, tasks) for row in rows)]
    columns = _columns(texts)
    start = columns[-1].end + 2 * CHARACTER
    width, height = start + DRAWING + MARGIN, 2 * MARGIN + LINE * len(texts)
    highest = max((_high(row) for row in rows), default=0) or 1
    lines = [_line(columns, place, rows[place - 1]["kind"] if place else "heading") for place in range(len(texts))]
    drawn = [
        _mark(start, place, row, DRAWING / highest)
        for place, row in enumerate(rows, start=1)
        if row["score"] is not None
    ]
    return "\n".join(
        [
            f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">',
            f"<title>Leaderboard of {escape(', '.join(tasks))}</title>",
            f"<style>{STYLE}</style>",
            '<rect class="paper" width="100%" height="100%" rx="6"/>',
            f'<path class="rule" d="M{MARGIN} {MARGIN + LINE + 0.5}H{width - MARGIN:.0f}"/>',
            *lines,
            *drawn,
            "</svg>",
        ]
    )


def _reference(oracle: Row) -> Row:
    """The oracle as a row without a rank; its interval is one standard deviation to each side."""
    score, tasks = oracle["score"], oracle["tasks"].items()
    drawn = score and {"low": score["mean"] - score["deviation"], "high": score["mean"] + score["deviation"]}
    return {
        "rank": None, "submission": "noisy oracle", "kind": "reference", "score": score and score["mean"],
        "tasks": {name: {"official": spread and spread["mean"]} for name, spread in tasks}, "standing": drawn,
    }  # fmt: skip


def _high(row: Row) -> float:
    return float(row["standing"]["high"] if row["standing"] else row["score"] or 0)


def _cells(row: Row, tasks: list[str]) -> list[str]:
    kind = "" if row["kind"] == "submission" else row["kind"]
    scores = [row["score"], *(row["tasks"][name].get("official") for name in tasks)]
    numbers = ["-" if score is None else f"{score:.2f}" for score in scores]
    standing = row["standing"] or {}
    ranks = "-".join(dict.fromkeys(str(standing[end]) for end in ("best_rank", "worst_rank") if end in standing)) or "-"
    return [str(row["rank"] or "-"), row["submission"], kind, *numbers, ranks]


def _columns(texts: list[list[str]]) -> list[Column]:
    columns, start = [], float(MARGIN)
    for number, cells in enumerate(zip(*texts, strict=True)):
        end = start + CHARACTER * max(map(len, cells))
        columns.append(Column(start, end, number not in (1, 2), list(cells)))
        start = end + 2 * CHARACTER
    return columns


def _line(columns: list[Column], place: int, kind: str) -> str:
    """The texts of one line; numbers end where their column ends, so no width of a font matters."""
    parts = []
    for number, column in enumerate(columns):
        where = f'x="{column.end:.1f}" text-anchor="end"' if column.number else f'x="{column.start:.1f}"'
        name = kind if number in (1, 3) or kind == "heading" else "faint" if number == 2 else ""
        parts.append(f'<text class="{name}" {where} y="{_middle(place) + 5:.1f}">{escape(column.cells[place])}</text>')
    return "".join(parts)


def _mark(start: float, place: int, row: Row, scale: float) -> str:
    """The score as a dot on its interval, if it has one."""
    kind, middle = row["kind"], _middle(place)
    dot = f'<circle class="{kind} mark" cx="{start + scale * row["score"]:.1f}" cy="{middle:.1f}" r="5"/>'
    if not row["standing"]:
        return dot
    low, high = row["standing"]["low"], row["standing"]["high"]
    where = f'x="{start + scale * low:.1f}" y="{middle - 1.5:.1f}" width="{scale * (high - low):.1f}" height="3"'
    return f'<rect class="{kind} mark" {where}/>{dot}'


def _middle(place: int) -> float:
    return MARGIN + LINE * (place + 0.5)


if __name__ == "__main__":
    main()
