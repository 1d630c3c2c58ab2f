"""Rules for columns that must agree with other columns of the row, to check databases of strangers."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

from harness.configuration import RECORDED, Configuration, configuration_from, recorded_configuration
from harness.outcome import WITHHELD, Outcome


class Agreement(NamedTuple):
    """A rule for a column that depends on other columns of the row. All values have passed `row_rules` before."""

    column: str
    others: tuple[str, ...]
    #: value of the column, values of the others -> the expected value in words; empty if they agree
    expected: Callable[..., str]


def _expected_value(value: float | None, outcome: str) -> str:
    if (outcome == Outcome.OK) == (value is not None):
        return ""
    return "a number" if value is None else f"none, because the outcome is {outcome}"


def _expected_message(message: str, outcome: str) -> str:
    return "no message, because the outcome is OK" if outcome == Outcome.OK and message not in ("", WITHHELD) else ""


def _expected_configuration(read: Callable[..., Configuration], name: str, *settings: Any) -> str:
    described = read(*settings).id
    return "" if name == described else f"{described}, by the settings in the row"


AGREEMENTS = (
    Agreement("value", ("outcome",), _expected_value),
    Agreement("message", ("outcome",), _expected_message),
    Agreement("configuration", RECORDED, partial(_expected_configuration, recorded_configuration)),
    Agreement("configuration", ("settings",), partial(_expected_configuration, configuration_from)),
)


def agreements_of(columns: Collection[str]) -> list[Agreement]:
    """Return the agreements whose `column` and `others` are all in `columns`."""
    return [one for one in AGREEMENTS if {one.column, *one.others} <= set(columns)]
