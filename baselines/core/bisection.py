"""Bisection for the largest number that passes a test, if all smaller numbers pass the test, too."""

from collections.abc import Callable
from typing import NamedTuple


class Bracket(NamedTuple):
    """An interval that contains the largest number that passes the test."""

    low: float  #: a number that passes
    high: float  #: a number that fails
    tried: float  #: the last tested number: `low` or `high`


def _mean(low: float, high: float) -> float:
    return (low + high) / 2


def bisect(
    is_too_much: Callable[[float], bool], low: float, high: float, n_halvings: int, *,
    middle: Callable[[float, float], float] = _mean,
    is_enough: Callable[[float, float, float], bool] = lambda *_: False,
) -> Bracket:  # fmt: skip
    """Halve [low, high] repeatedly; return the last interval, whose `low` passes the test and whose `high` fails.

    The given `low` and `high` are not tested.

    Args:
        is_too_much: whether a number fails the test; called once for each halving.
        n_halvings: maximum number of halvings, 1 or more.
        middle: returns the point that divides an interval (low, high).
        is_enough: whether to stop; a function of the entries low, high and tried of the present `Bracket`.
    """
    bracket = Bracket(low, high, high)
    for _ in range(n_halvings):
        tried = middle(bracket.low, bracket.high)
        bracket = Bracket(bracket.low, tried, tried) if is_too_much(tried) else Bracket(tried, bracket.high, tried)
        if is_enough(*bracket):
            break
    return bracket
