"""What becomes of a call."""

from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """The closed set of things that can become of a call; exactly one per record."""

    OK = "OK"  #: a finite real number came back
    TIMEOUT = "TIMEOUT"  #: the wall clock passed the limit
    MEMORY = "MEMORY"  #: memory passed the limit
    OUTPUT = "OUTPUT"  #: more was printed, or written to scratch space, than allowed
    CRASH = "CRASH"  #: the process ended without a result (signal, exit)
    EXCEPTION = "EXCEPTION"  #: the submission raised
    BAD_VALUE = "BAD_VALUE"  #: not a finite real scalar
    FORBIDDEN = "FORBIDDEN"  #: the sandbox refused something and the submission let the error escape
    PROTOCOL = "PROTOCOL"  #: the control channel carried something malformed
    INVALID_SUBMISSION = "INVALID_SUBMISSION"  #: no complexity.py, no function in it, links, too large
    INFRA_ERROR = "INFRA_ERROR"  #: the harness' own fault: nothing is said about the submission


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
    environment: dict[str, str] = field(default_factory=dict)  #: what the worker said of its libraries
    survived_kill: bool = False  #: something of the sandbox is still there; the machine cannot be trusted
