"""Reads the accuracies in a table, and compares them with computed accuracies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from harness.errors import UserError

#: Number of examples by which computed and stated accuracy may differ, because rounding decides ties of outputs.
EXAMPLES = 2

#: Maximum number of decimals that are counted to find a column's rounding; a float has no more.
DECIMALS = 17

#: If a column is rounded more coarsely, a warning is printed.
COARSE = 0.005

#: How programs write a missing number.
_EMPTY = ("", "na", "nan")


@dataclass(frozen=True)
class Stated:
    """An accuracy in a table, in [0, 1]."""

    text: str  #: the text of the cell
    rounding: float  #: the column's rounding (`rounding_of`)

    @property
    def value(self) -> float:
        """The accuracy as a number."""
        return float(self.text)

    def agrees(self, computed: float, n_examples: int) -> bool:
        """Whether rounding, and other answers to a few of `n_examples`, explain the difference from `computed`."""
        examples = EXAMPLES if self.rounding else 1  # 0 and 1 are exact
        return abs(computed - self.value) <= self.rounding + examples / n_examples + 1e-9


def rounding_of(cells: Iterable[str]) -> float:
    """Return the rounding of a column of accuracies: half a unit in the last place of its longest number.

    Programs write 0.9000 as `0.9`, so a single number does not show the rounding. A column of only 0 and 1 is exact.
    """
    numbers = [number for number in map(_number, cells) if number.is_finite()]
    decimals = min(max([0, *(-int(number.as_tuple().exponent) for number in numbers)]), DECIMALS)
    if decimals <= 1 and all(number in (0, 1) for number in numbers):
        return 0.0
    return 0.5 * 10.0**-decimals


def notes_on_rounding(name: str, stated: Sequence[Stated]) -> list[str]:
    """Return a warning if the column `name` of accuracies is rounded too coarsely; otherwise []."""
    if not stated or stated[0].rounding <= COARSE:
        return []
    remedy = "give more digits, or leave the column out to have it computed"
    return [f"{name} is stated to within {stated[0].rounding:g} only: {remedy}"]


def read_stated(where: str, name: str, text: str, rounding: float) -> Stated | None:
    """Return the accuracy in a cell; None if it is empty; raises `UserError` unless it is a number from 0 to 1."""
    if text.lower() in _EMPTY:
        return None
    value = _number(text)
    if not (value.is_finite() and 0 <= value <= 1):
        number = _number(text.removesuffix("%"))
        is_per_cent = number.is_finite() and 0 <= number <= 100
        remedy = "divide per cent by 100, and write no %" if is_per_cent else None
        raise UserError(name, file=where, expected="a number from 0 to 1, or nothing", found=text[:50],
                        remedy=remedy)  # fmt: skip
    return Stated(text, rounding)


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("NaN")
