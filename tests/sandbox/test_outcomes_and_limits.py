"""Outcomes and limits of a call."""

import pytest

from harness.machine_memory import Memory
from harness.outcome import Outcome
from harness.sandbox import job
from harness.sandbox.job import GIB, MIB, Limits
from harness.sandbox.process import CLAIMABLE, printable


def test_an_outcome_is_the_word_in_the_record() -> None:
    assert [str(outcome) for outcome in Outcome] == [outcome.name for outcome in Outcome]
    assert set(Outcome) == {
        "OK", "TIMEOUT", "MEMORY", "OUTPUT", "CRASH", "EXCEPTION", "BAD_VALUE", "FORBIDDEN", "PROTOCOL",
        "INVALID_SUBMISSION", "INFRA_ERROR",
    }  # fmt: skip


def test_a_submission_cannot_blame_the_harness_or_escape_the_clock_by_what_it_claims() -> None:
    assert not CLAIMABLE & {Outcome.INFRA_ERROR, Outcome.TIMEOUT, Outcome.PROTOCOL, Outcome.CRASH, Outcome.OUTPUT}


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://a.b\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bascii\x1b=", "ascii"),
        ("\x1b]no end\nline\x1b[", "no end\nline"),
        ("a[31m\tb\x9b\x7f", "a[31m\tb"),
    ],
)
def test_no_part_of_an_escape_sequence_is_kept(printed: str, kept: str) -> None:
    assert printable(printed) == kept


@pytest.mark.parametrize(
    ("total_gib", "gpus", "expected"),
    [
        (64, 0, 4 * GIB),
        (64, 1, 16 * GIB),
        (64, 8, 16 * GIB),
        (4, 0, 2304 * MIB),
        (8, 1, 4864 * MIB),
        (0.25, 0, 256 * MIB),
    ],
)
def test_the_default_memory_limit_fits_the_machine(
    total_gib: float, gpus: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory(int(total_gib * GIB), 0)
    monkeypatch.setattr(job, "usable_memory", lambda: memory)
    assert Limits.default_memory_bytes(gpus) == expected
