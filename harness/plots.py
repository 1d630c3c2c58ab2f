"""The style of plots: text stays text, and the colours of an SVG follow the reader's light or dark mode."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from harness.errors import writing

#: Colours in light mode, as written to the files: text and axes, background, dots, secondary elements.
INK, PAPER, COLOUR, FAINT = "#222222", "#fffffe", "#2f6f9f", "#8a8f98"

_DARK = {INK: "#e4e6ea", PAPER: "#15181d", COLOUR: "#69b1e4", FAINT: "#7d838d"}

#: Text uses the reader's own font; element IDs are the same every time a figure is written.
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pgdl",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": PAPER,
    "grid.color": FAINT,
    "xtick.color": INK,
    "ytick.color": INK,
}


def dark_rules() -> str:
    """Return the CSS rules that show plots in dark mode; they stay light where the CSS is not supported."""
    rules = (
        f'[style*="{attribute}: {light}"] {{ {attribute}: {dark} !important }}'
        for light, dark in _DARK.items()
        for attribute in ("fill", "stroke")
    )
    return "@media (prefers-color-scheme: dark) { " + " ".join(rules) + " }"


def svg_element(figure: Figure) -> str:
    """Return a figure as an `<svg>` element for a page whose styles include `dark_rules`."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = stream.getvalue()
    return text[text.index("<svg") :]


def svg_file(figure: Figure) -> str:
    """Return a figure as a self-contained SVG file."""
    element = svg_element(figure)
    head_ends = element.index(">") + 1
    return f"{element[:head_ends]}\n <style>{dark_rules()}</style>{element[head_ends:]}"


def write_figure(figure: Figure, path: Path) -> Path:
    """Write a figure in the format of the path's suffix: SVG, PNG or another of matplotlib; returns the path.

    Raises:
        UserError: the file cannot be written.
    """
    with writing(path):
        if path.suffix == ".svg":
            path.write_bytes(svg_file(figure).encode())
        else:
            figure.savefig(path, dpi=200)
    return path


def write_pictures(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as SVG and PNG, and return the paths: `stem` with the suffix of each; raises `UserError`."""
    return [write_figure(figure, stem.with_name(stem.name + suffix)) for suffix in (".svg", ".png")]


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """Provide an empty figure in the house's style; sizes are inches."""
    with mpl.rc_context(STYLE | {"font.size": 8}):
        yield Figure(figsize=(width, height), layout="constrained")
