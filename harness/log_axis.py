"""Logarithmic axes for Matplotlib, with as many ticks as there is room for: 1, 2 and 5 times powers of ten."""

import math
from collections.abc import Iterator
from itertools import count, pairwise, takewhile

from harness.plots import XAxis, YAxis, mpl, ticker

#: In font sizes: mean width of a character, distance between labels side by side, and between labels above each other.
CHARACTER, BESIDE, ABOVE = 0.62, 1.0, 1.6

#: Writes plain numbers: 0.05, 20, 1e-12.
PLAIN = ticker.FuncFormatter(lambda value, _: f"{value:g}")


def log_ticks(low: float, high: float, room: float) -> list[float]:
    """Return ascending ticks from `low` to `high`, at least `room` decades apart.

    Powers of ten come before 2 and 5 times powers of ten. If powers of ten are less than `room` apart, ticks are 2, 5,
    10, ... decades apart. If fewer than two such ticks are in the range, ticks have equal steps instead.
    """
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = next(step for step in _steps(1) if step >= room)
    ticks = [float(f"1e{exponent}") for exponent in exponents if exponent % every == 0]
    if every == 1:
        ticks += [float(f"{digit}e{exponent}") for exponent in exponents for digit in (2, 5)]
    chosen: list[float] = []
    for tick in ticks:
        if low <= tick <= high and all(abs(math.log10(tick / other)) >= room for other in chosen):
            chosen.append(tick)
    return sorted(chosen) if len(chosen) > 1 else _equal_steps(low, high, room) or chosen


def _equal_steps(low: float, high: float, room: float) -> list[float]:
    """Return multiples of the smallest step that leaves `room` decades between them; empty if there are too few."""
    if high <= low:
        return []
    smallest = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    for step in takewhile(lambda step: step < high, _steps(smallest)):
        ticks = [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
        if len(ticks) > 1 and all(math.log10(other / one) >= room for one, other in pairwise(ticks)):
            return ticks
    return []


def _steps(smallest: float) -> Iterator[float]:
    yield from (digit * 10**exponent * smallest for exponent in count() for digit in (1, 2, 5))


def use_log_scale(axis: XAxis | YAxis, formatter: ticker.Formatter = PLAIN) -> None:
    """Make an axis logarithmic, with ticks by `log_ticks` and labels by `formatter`."""
    if isinstance(axis, XAxis):
        axis.axes.set_xscale("log")
    else:
        axis.axes.set_yscale("log")
    axis.set_major_locator(_LogTicks(formatter))
    axis.set_major_formatter(formatter)
    axis.set_minor_locator(ticker.NullLocator())


class _LogTicks(ticker.LogLocator):
    """Computes the ticks of an axis by `log_ticks`, as many as fit its present length."""

    def __init__(self, formatter: ticker.Formatter) -> None:
        super().__init__()
        self._label = formatter

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        low, high = sorted((vmin, vmax))
        return log_ticks(low, high, self._room(low, high))

    def _room(self, low: float, high: float) -> float:
        """Return how many decades of this axis a label covers."""
        assert isinstance(self.axis, XAxis | YAxis)
        axes, font_size = self.axis.axes, mpl.rcParams["font.size"]
        points = 72 / axes.figure.dpi
        if isinstance(self.axis, YAxis):
            length, label = axes.bbox.height * points, ABOVE
        else:
            characters = max((len(self._label(tick)) for tick in log_ticks(low, high, 0)), default=0)
            length, label = axes.bbox.width * points, CHARACTER * characters + BESIDE
        return float(label * font_size / length * math.log10(high / low))
