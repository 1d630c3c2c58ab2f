"""Draw a leaderboard, as `pgdl board --format csv` prints it, as an SVG: CSV on standard input, SVG on standard output.

Times are left out: they are those of one machine. The picture needs no other file and no network, and follows the
reader's light or dark mode.
"""

import csv
import sys
from html import escape
from typing import NamedTuple, TextIO

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
    """Return the SVG of a board in CSV."""
    rows = list(csv.DictReader(table))
    tasks = list(rows[0])[4 : list(rows[0]).index("seconds_per_model")]
    texts = [["rank", "submission", "", "score", *tasks, "ranks"], *(_cells(row, tasks) for row in rows)]
    columns = _columns(texts)
    start = columns[-1].end + 2 * CHARACTER
    width, height = start + DRAWING + MARGIN, 2 * MARGIN + LINE * len(texts)
    highest = max((float(row["high"] or row["score"]) for row in rows if row["score"]), default=0) or 1
    lines = [_line(columns, place, rows[place - 1]["kind"] if place else "heading") for place in range(len(texts))]
    drawn = [_mark(start, place, row, DRAWING / highest) for place, row in enumerate(rows, start=1) if row["score"]]
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


def _cells(row: dict[str, str], tasks: list[str]) -> list[str]:
    kind = "" if row["kind"] == "submission" else row["kind"]
    numbers = [f"{float(row[name]):.2f}" if row[name] else "-" for name in ("score", *tasks)]
    ranks = "-".join(dict.fromkeys((row["best_rank"], row["worst_rank"]))) if row["best_rank"] else "-"
    return [row["rank"] or "-", row["submission"], kind, *numbers, ranks]


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


def _mark(start: float, place: int, row: dict[str, str], scale: float) -> str:
    """The score as a dot on its interval, if it has one."""
    kind, middle = row["kind"], _middle(place)
    dot = f'<circle class="{kind} mark" cx="{start + scale * float(row["score"]):.1f}" cy="{middle:.1f}" r="5"/>'
    if not row["low"]:
        return dot
    low, high = float(row["low"]), float(row["high"])
    where = f'x="{start + scale * low:.1f}" y="{middle - 1.5:.1f}" width="{scale * (high - low):.1f}" height="3"'
    return f'<rect class="{kind} mark" {where}/>{dot}'


def _middle(place: int) -> float:
    return MARGIN + LINE * (place + 0.5)


if __name__ == "__main__":
    main()
