"""The range of a histogram of gaps."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

#: Gaps are equal if they differ less, perhaps by rounding. NumPy makes no bars for so small a range.
ROUNDING = 1e-12


def bar_range(gaps: Sequence[float] | NDArray[Any]) -> tuple[float, float] | None:
    """Return a range of length 1 around equal gaps; None for other gaps, whose bars reach from lowest to highest."""
    low, high = min(gaps), max(gaps)
    return (low - 0.5, high + 0.5) if high - low < ROUNDING else None
