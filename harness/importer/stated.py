"""Accuracies as a table states them, and the rounding of their column."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from harness.errors import UserError

#: Number of examples by which a computed accuracy may differ from the stated: the order of sums decides ties.
EXAMPLES = 2

#: Maximum number of decimals that count: the decimals of a float.
DECIMALS = 17

#: Largest rounding, in accuracy, of a column that is precise enough.
COARSE = 0.005


#: Texts by which programs mark a missing number.
_EMPTY = ("", "na", "nan")


@dataclass(frozen=True)
class Stated:
    """An accuracy as the table states it, in [0, 1]."""

    text: str  #: the cell
    rounding: float  #: the rounding of its column, in accuracy

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    def agrees(self, computed: float, n_examples: int) -> bool:
        """Whether an accuracy that was computed on `n_examples` may be the stated one."""
        examples = EXAMPLES if self.rounding else 1  # 0 and 1 are not rounded
        return abs(computed - self.value) <= self.rounding + examples / n_examples + 1e-9


def rounding_of(cells: Iterable[str]) -> float:
    """Return half a unit of the last digit of the longest cell of a column; cells that are no numbers do not count.

    Programs write the shortest form, so that `0.9` may be 0.90 or 0.9000: a single cell says nothing. A column that
    contains only 0 and 1, or only 0.0 and 1.0, is exact.
    """
    numbers = [number for number in map(_number, cells) if number.is_finite()]
    decimals = min(max([0, *(-int(number.as_tuple().exponent) for number in numbers)]), DECIMALS)
    if decimals <= 1 and all(number in (0, 1) for number in numbers):
        return 0.0
    return 0.5 * 10.0**-decimals


def notes_on_rounding(name: str, stated: Sequence[Stated]) -> list[str]:
    """Return a warning if a column of accuracies is rounded too coarsely to compare."""
    if not stated or stated[0].rounding <= COARSE:
        return []
    remedy = "give more digits, or leave the column out to have it computed"
    return [f"{name} is stated to within {stated[0].rounding:g} only: {remedy}"]


def read_stated(where: str, name: str, text: str, rounding: float) -> Stated | None:
    """Return the accuracy in a cell, if there is one; raises `UserError` unless it is a number from 0 to 1."""
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
