"""How plots look: text stays text, and the colours of an SVG follow the reader's light or dark mode."""

import io
from typing import Any

from matplotlib.figure import Figure

#: Colours in light mode, as they stand in the files: text and axes, background, dots, what is less important.
INK, PAPER, COLOUR, FAINT = "#222222", "#fffffe", "#2f6f9f", "#8a8f98"

_DARK = {INK: "#e4e6ea", PAPER: "#15181d", COLOUR: "#69b1e4", FAINT: "#7d838d"}

#: Text is in the reader's own font; ids do not change from one writing to the next.
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
    """Return the CSS by which the plots below an element change into dark mode; where it is unknown they stay light."""
    rules = (
        f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    )
    return "@media (prefers-color-scheme: dark) { " + " ".join(rules) + " }"


def svg_element(figure: Figure) -> str:
    """Return a figure as `<svg>...</svg>` for a page that has `dark_rules` among its styles."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = stream.getvalue()
    return text[text.index("<svg") :]


def svg_file(figure: Figure) -> str:
    """Return a figure as an SVG that stands for itself."""
    element = svg_element(figure)
    head_ends = element.index(">") + 1
    return f"{element[:head_ends]}\n <style>{dark_rules()}</style>{element[head_ends:]}"
