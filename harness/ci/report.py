"""The file with the report on a change: the pull request's job writes it, the job that writes comments reads it.

The file may be forged, so `ChangeReport.parse` checks every type and size. Only the standard library is imported: the
job that writes comments needs no installation.
"""

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Self, get_args, get_origin, get_type_hints

from harness.parsing import parse_json

#: Version of the file's format.
FORMAT = 7

#: Maximum number of files in `ChangeReport.others`.
MAX_OTHERS = 20

#: Maximum number of bytes of the file, of entries of a list, and of characters of a text.
MAX_BYTES, MAX_ITEMS, MAX_TEXT = 8 * 1024**2, 200, 1000


class ReportError(Exception):
    """The file is not a report. The message is one line."""


@dataclass(frozen=True)
class Line:
    """A submission that the change touches or removes. Scores are 0 to 100; a figure that does not exist is None."""

    name: str
    file: str  #: path of the submission in the repository
    change: str  #: `new`, `changed`, `renamed`, `removed`, `refused`, or `evaluated` without a base
    rank_before: int | None = None  #: rank at the base
    score_before: float | None = None  #: score at the base
    rank: int | None = None
    score: float | None = None
    low: float | None = None  #: lower end of the score's interval; None if it is unknown or withheld
    high: float | None = None  #: upper end
    chance: float | None = None  #: level of chance (pgdl help statistics)
    p_value: float | None = None  #: adjusted p-value of the score
    best_rank: int | None = None  #: best possible rank
    worst_rank: int | None = None  #: worst possible rank
    calls_ok: int = 0  #: number of models with a value, with or without reference data
    calls_expected: int = 0  #: number of all models
    machine_failed: int = 0  #: number of models on which the call failed because of the machine
    above: str = ""  #: next submission above on the board; empty for the first submission
    above_p_value: float | None = None  #: two-sided p-value of the difference from `above`, 0 to 1
    below: str = ""  #: next submission below on the board
    below_p_value: float | None = None  #: two-sided p-value of the difference from `below`, 0 to 1
    problem: str = ""  #: reason for a refusal or a missing score; may quote messages of the submission
    traceback: str = ""  #: traceback of a failed call on a task that is not hidden
    renamed_from: str = ""  #: name at the base if the change renames the submission


@dataclass(frozen=True)
class Same:
    """Submissions that all have the same files, or all the same values. The change touches one submission or more."""

    what: str  #: `files`, or `values` for the same value on every model
    names: tuple[str, ...]


@dataclass(frozen=True)
class Moved:
    """A submission that the change does not touch, but whose rank changes."""

    name: str
    rank_before: int | None
    rank: int | None


@dataclass(frozen=True)
class ChangeReport:
    """The effects of a change on the leaderboard."""

    head: str  #: ID of the commit with the change
    base: str  #: ID of the base; empty if all submissions of `head` were evaluated
    decimals: int  #: number of decimals of published scores
    lines: tuple[Line, ...]
    moved: tuple[Moved, ...] = ()
    others: tuple[str, ...] = ()  #: files of the change that belong to no submission: the most important ones
    n_others: int = 0  #: number of all files of the change that belong to no submission
    missing: tuple[str, ...] = ()  #: untouched submissions that lack records; if there are any, the report has no ranks
    broken: tuple[str, ...] = ()  #: a line for each rule that the change breaks
    notes: tuple[str, ...] = ()  #: a line for each fact that breaks no rule, but must be known before a merge
    same: tuple[Same, ...] = ()
    withheld: tuple[str, ...] = ()  #: hidden tasks, for which scores are rounded and other figures withheld

    def to_json(self) -> str:
        """Return the content of the report's file. Lists and texts that are too long for `parse` are cut."""
        return json.dumps({"format": FORMAT} | _cut(asdict(self)), indent=1, allow_nan=False) + "\n"

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Return the report in a file's content. Raise `ReportError` for anything but a report."""
        if len(content) > MAX_BYTES:
            raise ReportError(f"expected at most {MAX_BYTES} bytes, found {len(content)}")
        try:
            found = parse_json(content)
        except ValueError as error:
            raise ReportError("expected JSON") from error
        if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
            raise ReportError(f"expected a report of format {FORMAT}")
        report: Self = _build(cls, found)
        return report


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(one) for one in value[:MAX_ITEMS]]
    return value[:MAX_TEXT] if isinstance(value, str) else value


def _build(kind: Any, found: Any) -> Any:
    if not isinstance(found, dict) or set(found) != {field.name for field in fields(kind)}:
        raise ReportError(f"expected the fields of {kind.__name__}")
    hints = get_type_hints(kind)
    return kind(**{name: _value(hints[name], value, name) for name, value in found.items()})


def _value(hint: Any, value: Any, name: str) -> Any:
    allowed = get_args(hint) or (hint,)
    if get_origin(hint) is tuple:
        (item, _) = allowed
        if not isinstance(value, list) or len(value) > MAX_ITEMS:
            raise ReportError(f"{name}: expected a list of at most {MAX_ITEMS}")
        return tuple(_value(str, one, name) if item is str else _build(item, one) for one in value)
    if float in allowed and type(value) is int:
        value = float(value) if abs(value) < 1e6 else math.inf
    if type(value) not in allowed:
        raise ReportError(f"{name}: expected another type, found {type(value).__name__}")
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise ReportError(f"{name}: expected at most {MAX_TEXT} characters")
    if isinstance(value, int | float) and not abs(value) < 1e9:
        raise ReportError(f"{name}: expected a smaller number")
    return value
