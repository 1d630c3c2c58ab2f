"""The plot of a comparison of measures: scores by family, with intervals, the chance score and the noisy oracle."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.board.row import Row
from harness.plots import COLOUR, FAINT, INK, new_figure, write_figure

NAMED = 5  #: number of measures of a family that have a line each; all others share a line
WIDTH, LINE, REST = 7.6, 0.165, 0.9  #: width, height of a line, height of axis and titles, in inches

Line = tuple[str, Sequence[Row]]


def write_plot(rows: Sequence[Row], paths: Sequence[Path], oracle: float | None = None) -> None:
    """Plot the mean scores of measures by family. `rows` holds the measures, best first.

    Measures that lack a score on a task have hollow dots. The suffixes of `paths` determine the formats, such as
    `.svg`. `oracle` is the noisy oracle's score, 0 to 100, drawn as a line.
    """
    families = {row.family: _lines([other for other in rows if other.family == row.family]) for row in rows}
    height = REST + LINE * sum(len(lines) + 1 for lines in families.values())
    with new_figure(WIDTH, height) as figure:
        axes = figure.subplots()
        end = _draw(axes, families)
        hollow = "" if all(row.complete for row in rows) else " (hollow: not of every task)"
        axes.set(xlabel=f"mean official score{hollow}", ylim=(end, -1))
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        levels = [row.chance_level for row in rows if row.complete and row.chance_level is not None]
        chance = statistics.median(levels) if levels else None
        _mark(axes, {"chance": (chance, "dotted"), "noisy oracle": (oracle, "dashed")})
        axes.set_xlim(left=0)
        for path in paths:
            write_figure(figure, path)


def _lines(family: Sequence[Row]) -> list[Line]:
    named = NAMED if len(family) > NAMED + 1 else len(family)
    lines: list[Line] = [(row.submission, [row]) for row in family[:named]]
    return [*lines, (f"{len(family) - named} more", family[named:])] if family[named:] else lines


def _draw(axes: Any, families: dict[str, list[Line]]) -> float:
    position, positions, names = 0, [], []
    for family, lines in families.items():
        middle = position + (len(lines) - 1) / 2
        axes.annotate(family, (1, middle), xycoords=axes.get_yaxis_transform(), xytext=(8, 0),
                      textcoords="offset points", va="center", annotation_clip=False, weight="bold")  # fmt: skip
        for name, shown in lines:
            for row in shown:
                _dot(axes, row, position, COLOUR if len(shown) == 1 else FAINT)
            if len(shown) == 1 and shown[0].standing is not None:
                axes.hlines(position, shown[0].standing.low, shown[0].standing.high, color=COLOUR, linewidth=0.8)
            positions.append(position)
            names.append(name)
            position += 1
        position += 1
    axes.set_yticks(positions, names)
    return position - 1


def _dot(axes: Any, row: Row, position: float, colour: str) -> None:
    if row.score is not None:
        inside = colour if row.complete else "none"
        axes.scatter(row.score, position, s=16, facecolor=inside, edgecolor=colour, clip_on=False, zorder=3)


def _mark(axes: Any, levels: dict[str, tuple[float | None, str]]) -> None:
    for height, (name, (level, style)) in enumerate(levels.items()):
        if level is not None:
            axes.axvline(level, color=INK, linestyle=style, linewidth=0.9, zorder=0.5)
            axes.annotate(f"{name} {level:.2f}", (level, 1), xycoords=axes.get_xaxis_transform(), ha="center",
                          xytext=(0, 2 + 10 * height), textcoords="offset points", annotation_clip=False)  # fmt: skip
