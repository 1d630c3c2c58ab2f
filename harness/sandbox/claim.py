"""Validates the result that a worker claims for its own call."""

import math
from typing import Any

from harness.outcome import Outcome

#: Outcomes that a worker may claim; only the harness can establish the others.
CLAIMABLE = frozenset(
    {
        Outcome.OK,
        Outcome.EXCEPTION,
        Outcome.BAD_VALUE,
        Outcome.FORBIDDEN,
        Outcome.MEMORY,
        Outcome.INVALID_SUBMISSION,
    }
)

#: Longest stored message, in characters.
MESSAGE = 500

#: Longest stored tail of the output, in characters.
TAIL = 16_000


class Ended(Exception):
    """The call is over: its outcome, why, and its value if there is one."""

    def __init__(self, outcome: Outcome, message: str = "", value: float | None = None) -> None:
        super().__init__(message)
        self.outcome, self.message, self.value = outcome, message, value


class Interrupted(Ended):
    """Something outside of the sandbox ended the call or spoilt its time: the same call may be made again at once."""

    def __init__(self, message: str) -> None:
        super().__init__(Outcome.INFRA_ERROR, message)


def read_claim(frame: dict[str, Any]) -> Ended:
    """Validate the claim of a worker, which is not trusted."""
    status, message = frame.get("status"), frame.get("message", "")
    if not isinstance(status, str) or status not in CLAIMABLE or not isinstance(message, str):
        return Ended(Outcome.PROTOCOL, "a result with a status that a worker may not claim")
    if status != Outcome.OK:
        return Ended(Outcome(status), " ".join(printable(message).split())[:MESSAGE])
    text = frame.get("value")
    try:
        value = float.fromhex(text) if isinstance(text, str) and len(text) < 64 else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        return Ended(Outcome.PROTOCOL, "a result that is not a finite number")
    return Ended(Outcome.OK, value=value)


def printable(text: str) -> str:
    """Keep printable characters, newlines and tabs; everything else could control a terminal or a page."""
    return "".join(character for character in text if character.isprintable() or character in "\n\t")
