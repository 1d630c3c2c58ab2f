"""Rules for the values of columns, to check strangers' databases. Values that the harness writes follow the rules."""

import functools
import json
import math
import re
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import JSON, BigInteger, Boolean, Column, Float, Integer, Text

from harness.configuration import RECORDED, Configuration, configuration_from, recorded_configuration
from harness.outcome import LONGEST_TIME_S, WITHHELD, Outcome
from harness.records.tables import UtcDateTime
from harness.text import is_line, is_text

#: Maximum numbers of characters of a digest, of a name, and of a text without a limit in `Column.info`.
LONGEST_DIGEST, LONGEST_NAME, LONGEST_TEXT = 64, 255, 32 * 1024

#: Largest integers of 32 and 64 bits.
INTEGER, LONG = 2**31 - 1, 2**63 - 1

_OUTCOMES = frozenset(map(str, Outcome))

#: A time as SQLite stores it.
_TIME = re.compile(r"[12]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", re.ASCII)


class Rule(NamedTuple):
    """The values that a column may have."""

    words: str  #: description of the values, for messages
    holds: Callable[[Any], bool]  #: whether the column may have a value, as stored or as SQLAlchemy converts it
    #: the function that chooses the values to test: `set` tests equal texts once; `iter` tests all, since True equals 1
    different: Callable[[Iterable[Any]], Iterable[Any]] = iter


@functools.cache
def rule_of(column: Column[Any]) -> Rule:
    """Return the rule that every value in a column of the database must follow."""
    rule = _rule(column)
    return rule._replace(holds=lambda value: value is None or rule.holds(value)) if column.nullable else rule


def _rule(column: Column[Any]) -> Rule:
    kind, info = column.type, column.info
    if column.name == "outcome":
        return Rule("an outcome", _OUTCOMES.__contains__, set)
    if column.name == "value":
        return Rule("a finite number", lambda value: type(value) in (float, int) and math.isfinite(value))
    if column.name == "settings":
        return Rule(
            "the settings of a run", lambda value: _has(value, info["longest"]) and _is_configuration(value), set
        )
    if "digest" in info:
        return Rule("letters and digits", _is_digest, set)
    if "word" in info:
        return Rule("printable ASCII text", _is_word, set)
    if isinstance(kind, UtcDateTime):
        return Rule("a time", _is_time)
    if isinstance(kind, JSON):
        return Rule("a JSON object of texts", _is_object)
    if isinstance(kind, Boolean):
        return Rule("0 or 1", lambda value: type(value) in (bool, int) and value in (0, 1))
    if isinstance(kind, Integer):
        most = LONG if isinstance(kind, BigInteger) else INTEGER
        return Rule(f"an integer from 0 to {most}", lambda value: type(value) is int and 0 <= value <= most)
    if isinstance(kind, Float):
        words = f"a number from 0 to {LONGEST_TIME_S:g}"
        return Rule(words, lambda value: type(value) in (float, int) and 0 <= value <= LONGEST_TIME_S)
    if isinstance(kind, Text):
        longest = info.get("longest", LONGEST_TEXT)
        words = f"text of at most {longest} characters, without control characters"
        return Rule(words, lambda value: _has(value, longest) and is_text(value), set)
    words = f"a line of at most {LONGEST_NAME} characters"
    return Rule(words, lambda value: _has(value, LONGEST_NAME) and is_line(value), set)


def _has(value: object, longest: int) -> bool:
    return type(value) is str and len(value) <= longest


def _is_digest(value: Any) -> bool:
    return type(value) is str and (not value or (len(value) <= LONGEST_DIGEST and value.isascii() and value.isalnum()))


def _is_word(value: Any) -> bool:
    return type(value) is str and len(value) <= LONGEST_NAME and value.isascii() and value.isprintable()


def _is_time(value: object) -> bool:
    if not isinstance(value, str):
        return isinstance(value, datetime)
    try:
        return _TIME.fullmatch(value) is not None and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def _is_configuration(value: str) -> bool:
    try:
        return bool(configuration_from(value))
    except ValueError:
        return False


def _is_object(value: object) -> bool:
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and all(_has(one, LONGEST_TEXT) and is_text(one) for one in found.values())


class Agreement(NamedTuple):
    """A rule that ties a column to other columns of its row. Each value has passed the rule of its own column."""

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
