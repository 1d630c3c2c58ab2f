"""Bisection: finds the largest scale that still passes a test."""

from collections.abc import Callable
from typing import NamedTuple


class Bracket(NamedTuple):
    """An interval in which the place is."""

    low: float  #: not too much
    high: float  #: too much
    tried: float  #: the end that was tried last


def _mean(low: float, high: float) -> float:
    return (low + high) / 2


def bisect(
    is_too_much: Callable[[float], bool], low: float, high: float, n_halvings: int, *,
    middle: Callable[[float, float], float] = _mean,
    is_enough: Callable[[float, float, float], bool] = lambda *_: False,
) -> Bracket:  # fmt: skip
    """Halve the interval from `low`, which is not too much, to `high`, which is.

    Args:
        is_too_much: is asked once for each halving.
        low: lower end.
        high: upper end.
        n_halvings: at most so many, and at least one.
        middle: where an interval is parted.
        is_enough: whether to end, given an interval's (low, high, tried).
    """
    bracket = Bracket(low, high, high)
    for _ in range(n_halvings):
        tried = middle(bracket.low, bracket.high)
        bracket = Bracket(bracket.low, tried, tried) if is_too_much(tried) else Bracket(tried, bracket.high, tried)
        if is_enough(*bracket):
            break
    return bracket
