"""The closed set of things that can become of a call."""

from enum import StrEnum


class Outcome(StrEnum):
    """What became of one call; exactly one per record."""

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


#: Outcomes that a worker may claim for its own call; all others only the harness can establish.
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
