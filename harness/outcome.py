"""The outcome and the result of a call."""

import re
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """The outcomes of a call. Every record has exactly one outcome."""

    OK = "OK"  #: the measure returned a finite real number
    TIMEOUT = "TIMEOUT"  #: the wall-clock time exceeded the limit
    MEMORY = "MEMORY"  #: memory or the number of sockets exceeded the limit
    OUTPUT = "OUTPUT"  #: output or scratch space exceeded the limit
    CRASH = "CRASH"  #: the process ended without a result, by a signal or an exit
    EXCEPTION = "EXCEPTION"  #: the submission raised an exception
    BAD_VALUE = "BAD_VALUE"  #: the measure returned no finite real number
    FORBIDDEN = "FORBIDDEN"  #: the sandbox denied an operation and the submission did not catch the error
    PROTOCOL = "PROTOCOL"  #: the control channel carried a malformed frame
    INVALID_SUBMISSION = "INVALID_SUBMISSION"  #: the submission has no function `complexity`
    INFRA_ERROR = "INFRA_ERROR"  #: a fault of the harness or the machine, which says nothing about the submission


#: Maximum length of `CallResult.output_tail` in characters.
LONGEST_OUTPUT_TAIL = 16_000

#: Upper bound of a recorded time: 30 years, in seconds, so that sums of times are finite.
LONGEST_TIME_S = 1e9

#: The message of every recorded call on a task that was hidden, whatever its outcome.
WITHHELD = "withheld"

_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")


@dataclass(frozen=True)
class CallResult:
    """The result of a call. Times are in seconds, as the harness measures them outside the sandbox."""

    outcome: Outcome
    value: float | None = None
    message: str = ""  #: one line: the reason, with the limit and the usage
    startup_wall_s: float = 0.0
    load_wall_s: float = 0.0
    load_cpu_s: float = 0.0  #: processor time from the start of the process to the end of loading
    call_wall_s: float = 0.0
    call_cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    output_tail: str = ""
    environment: dict[str, str] = field(default_factory=dict)  #: library versions, as the worker reports them
    interrupted: bool = False  #: whether an `INFRA_ERROR` has a passing cause, such as a pause of the harness
    survived_kill: bool = False  #: whether processes of the sandbox are still alive; then the machine cannot be trusted
    place: str = ""  #: line at which a timeout stopped the submission, such as complexity.py:4; empty if not known


def kind_of_failure(outcome: str, message: str) -> tuple[str, str]:
    """Return outcome and message with `#` for numbers: the same for failures that differ only in numbers."""
    return outcome, _NUMBER.sub("#", message)


class StoppedError(Exception):
    """The call has no result because the run is being stopped."""
