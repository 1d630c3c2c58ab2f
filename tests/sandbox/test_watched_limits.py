"""Tests of the limits that the harness watches: the outcome and message of a call that exceeds one of them."""

from types import SimpleNamespace

import pytest

from harness.configuration import GIB, MIB
from harness.outcome import Outcome
from harness.sandbox.call import WATCHED, Call
from harness.sandbox.job import Limits
from harness.sandbox.memory import Usage
from harness.sandbox.process import Ended
from harness.sandbox.running_sandbox import Storage

LIMITS = Limits(
    memory_bytes=2 * GIB, processes=100, sockets=7, output_bytes=3 * MIB, scratch_bytes=4 * MIB,
    shared_memory_bytes=1 * MIB, scratch_files=9,
)  # fmt: skip


def end_of(memory_bytes=0, threads=0, output=0, **storage) -> Ended | None:
    """Return how a call with this usage is ended; None if it goes on."""
    killed = []
    sandbox = SimpleNamespace(storage=lambda: Storage(**storage), kill=lambda: killed.append(True))
    call = Call(SimpleNamespace(sandbox=sandbox, output_total=output), LIMITS, lambda: False)
    call._watch.close()
    call._watch = SimpleNamespace(sample=lambda: Usage(memory_bytes, 1.0, threads))
    try:
        call._enforce_limits()
    except Ended as ended:
        assert killed, "at once"
        return ended
    return None


@pytest.mark.parametrize(
    ("what", "limit", "outcome", "message"),
    [
        ("memory_bytes", 2 * GIB, Outcome.MEMORY, "out of memory (limit 2048 MiB, used 2048 MiB)"),
        ("threads", WATCHED * 100, Outcome.MEMORY, "too many processes and threads (limit 200, used 201)"),
        ("sockets", 7, Outcome.MEMORY, "too many sockets (limit 7, used 8)"),
        ("output", 3 * MIB, Outcome.OUTPUT, "printed too much (limit 3 MiB, used 3 MiB)"),
        ("scratch_bytes", 5 * MIB, Outcome.OUTPUT, "wrote too much (limit 5 MiB, used 5 MiB)"),
        ("scratch_files", 9, Outcome.OUTPUT, "wrote too many files (limit 9, used 10)"),
    ],
)
def test_a_call_is_ended_as_soon_as_it_uses_more_than_a_limit(what, limit, outcome, message):
    assert end_of(**{what: limit}) is None
    ended = end_of(**{what: limit + 1})
    assert (ended.outcome, ended.message) == (outcome, f"{message} before the measure was called")
