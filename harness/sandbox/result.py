"""What becomes of a call, and what a worker may say about it."""

import math
from dataclasses import dataclass, field
from typing import Any

from harness.sandbox.outcome import CLAIMABLE, Outcome

#: Characters of a message that are kept.
MESSAGE = 500

#: Characters of output that are kept, from its end.
TAIL = 16_000


@dataclass(frozen=True)
class CallResult:
    """What became of one call; times in seconds, as measured by the harness from outside."""

    outcome: Outcome
    value: float | None = None
    message: str = ""  #: one line: why, with the limit and what was used
    startup_wall_s: float = 0.0
    load_wall_s: float = 0.0
    load_cpu_s: float = 0.0  #: since the start of the process
    call_wall_s: float = 0.0
    call_cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    output_tail: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    survived_kill: bool = False  #: something of the sandbox is still there; the machine cannot be trusted


class Ended(Exception):
    """The call is over: its outcome, why, and its value if there is one."""

    def __init__(self, outcome: Outcome, message: str = "", value: float | None = None) -> None:
        super().__init__(message)
        self.outcome, self.message, self.value = outcome, message, value


def read_claim(frame: dict[str, Any]) -> Ended:
    """Check what a worker says of its own call; nothing here is trusted."""
    status, message = frame.get("status"), frame.get("message", "")
    if not isinstance(status, str) or status not in CLAIMABLE or not isinstance(message, str):
        return Ended(Outcome.PROTOCOL, "a result whose status is none that a worker may claim")
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
    """Drop everything that could steer a terminal or a page: printable characters, newlines and tabs stay."""
    return "".join(character for character in text if character.isprintable() or character in "\n\t")
