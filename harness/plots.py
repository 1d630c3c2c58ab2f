"""The style of all plots of Matplotlib, and SVG whose colours follow the reader's light or dark mode."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from harness.children import ROOT
from harness.errors import writing
from harness.text import printable_lines

# Nothing else imports Matplotlib, which reads `matplotlibrc` in the current directory, perhaps an untrusted file.
if "matplotlib" in sys.modules:
    import matplotlib as mpl
else:
    backend = os.environ.pop("MPLBACKEND", None)  # the import fails if this backend is not installed
    with chdir(ROOT):
        import matplotlib as mpl
    if backend is not None:
        os.environ["MPLBACKEND"] = backend
from matplotlib import ticker
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure

__all__ = [
    "CHANCE", "COLOUR", "FAINT", "INK", "PAPER", "STYLE", "Axes", "Figure", "XAxis", "YAxis", "dark_rules", "mpl",
    "new_figure", "styled", "svg_element", "svg_file", "ticker", "use_log_scale", "write_figure", "write_pictures",
]  # fmt: skip

#: Colours in light mode: text and axes, background, dots, minor elements, and the level of chance.
INK, PAPER, COLOUR, FAINT, CHANCE = "#222222", "#fffffe", "#0b6e6e", "#8a8f98", "#a84a00"

_DARK = {INK: "#e4e6ea", PAPER: "#15181d", COLOUR: "#55c4bd", FAINT: "#7d838d", CHANCE: "#f0a050"}

#: Settings of Matplotlib that differ from its defaults.
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text, in the reader's font
    "text.parse_math": False,  # names may contain dollar signs
    "svg.hashsalt": "pgdl",  # equal figures have equal element IDs
    "font.family": "sans-serif",
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
    """Return CSS rules that change the colours of plots in dark mode."""
    rules = (
        f'[style*="{attribute}: {light}"] {{ {attribute}: {dark} !important }}'
        for light, dark in _DARK.items()
        for attribute in ("fill", "stroke")
    )
    return "@media (prefers-color-scheme: dark) { " + " ".join(rules) + " }"


def svg_element(figure: Figure) -> str:
    """Return a figure as an `<svg>` element for a page that includes `dark_rules`."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = stream.getvalue()
    return printable_lines(text[text.index("<svg") :])  # XML must not contain control characters


def svg_file(figure: Figure) -> str:
    """Return the content of an SVG file with a figure and the rules for dark mode."""
    element = svg_element(figure)
    head_ends = element.index(">") + 1
    return f"{element[:head_ends]}\n <style>{dark_rules()}</style>{element[head_ends:]}"


def write_figure(figure: Figure, path: Path) -> Path:
    """Write a figure in the format of the path's suffix, and return the path. Raise `UserError` if that fails."""
    with writing(path):
        if path.suffix == ".svg":
            path.write_bytes(svg_file(figure).encode())
        else:
            figure.savefig(path, dpi=200)
    return path


def write_pictures(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure to `stem` with suffix `.svg` and `.png`. Return both paths. Raise `UserError` if that fails."""
    return [write_figure(figure, stem.with_name(stem.name + suffix)) for suffix in (".svg", ".png")]


@contextmanager
def styled(font_size: float) -> Iterator[None]:
    """Set the style of plots within the context, whatever Matplotlib's settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE | {"font.size": font_size})
        yield


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """Yield an empty figure of `width` x `height` inches. Within the context, the style of plots is set."""
    with styled(8):
        yield Figure(figsize=(width, height), layout="constrained")


def use_log_scale(axis: XAxis | YAxis, label: Callable[[float], str] = "{:g}".format) -> None:
    """Make an axis logarithmic. It has labels at 10**n and, if it spans at most two decades, at 2 and 5 times 10**n."""

    def minor_label(value: float, _position: object) -> str:
        low, high = sorted(axis.get_view_interval())
        return label(value) if high <= 100 * low else ""

    set_scale = axis.axes.set_xscale if isinstance(axis, XAxis) else axis.axes.set_yscale
    set_scale("log", subs=(2, 5))
    axis.set_major_formatter(lambda value, _position: label(value))
    axis.set_minor_formatter(minor_label)
