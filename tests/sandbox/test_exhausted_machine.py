"""Tests of outcomes if the machine runs out of memory: only the call that took the memory is to blame."""

import threading

import pytest

from harness.machine_memory import Memory
from harness.outcome import Outcome
from harness.sandbox import call as call_module
from harness.sandbox import job, memory
from harness.sandbox.call import Call
from harness.sandbox.job import GIB, MIB, Limits
from harness.sandbox.process import CLAIMABLE, Ended, printable


def test_a_submission_cannot_blame_the_harness_or_escape_the_clock_by_what_it_claims():
    assert [str(outcome) for outcome in Outcome] == [outcome.name for outcome in Outcome], "the word in the record"
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
def test_no_part_of_an_escape_sequence_is_kept(printed, kept):
    assert printable(printed) == kept


@pytest.mark.parametrize(
    ("total_gib", "gpus", "expected"),
    [(64, 0, 4 * GIB), (64, 1, 16 * GIB), (64, 8, 16 * GIB), (4, 0, 2304 * MIB), (8, 1, 4864 * MIB),
     (0.25, 0, 256 * MIB)],
)  # fmt: skip
def test_the_default_memory_limit_fits_the_machine(total_gib, gpus, expected, monkeypatch):
    of_machine = Memory(int(total_gib * GIB), 0)
    monkeypatch.setattr(job, "usable_memory", lambda: of_machine)
    assert Limits.default_memory_bytes(gpus) == expected


LIMITS = Limits(memory_bytes=2 * GIB)


class Machine:
    """A machine of 100 GiB with some memory left."""

    def __init__(self, available: int) -> None:
        self.available = available

    def memory(self) -> Memory:
        return Memory(100 * GIB, self.available)


class Worker:
    """A worker that holds some of the machine's memory."""

    def __init__(self, machine: Machine, held: int) -> None:
        self.machine, self.held, self.ended = machine, held, False

    def end(self) -> bool:
        self.machine.available += self.held
        self.held, self.ended = 0, True
        return True


def call(worker: Worker) -> Call:
    return Call(worker, LIMITS, lambda: False)  # type: ignore[arg-type]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(available=1 * GIB)
    monkeypatch.setattr(memory, "usable_memory", machine.memory)
    return machine


@pytest.mark.parametrize(
    ("held", "outcome", "message"),
    [
        (50 * GIB, Outcome.MEMORY, "out of memory, and so is the machine (limit 2048 MiB, used 51200 MiB)"),
        (1 * GIB, Outcome.INFRA_ERROR, "not due to this call (limit 2048 MiB, used 1024 MiB)"),
        (2 * GIB + 300 * MIB, Outcome.INFRA_ERROR, "not due to this call"),  # files in scratch space are allowed
    ],
)
def test_the_memory_freed_by_ending_a_call_decides_who_is_to_blame(machine, held, outcome, message):
    with pytest.raises(Ended) as ended:
        call(Worker(machine, held))._relieve_machine()
    assert ended.value.outcome is outcome
    assert message in str(ended.value)


def test_a_call_goes_on_if_the_culprit_was_ended_meanwhile(machine):
    culprit, bystander = Worker(machine, 50 * GIB), Worker(machine, 1 * GIB)
    memory.ENDING.acquire()
    waiting = threading.Thread(target=call(bystander)._relieve_machine)
    waiting.start()
    culprit.end()
    memory.ENDING.release()
    waiting.join()
    assert not bystander.ended
    assert not memory.is_exhausted()
    machine.available = 4 * GIB  # less than a twentieth
    assert memory.is_exhausted()


@pytest.mark.parametrize(("peak", "outcome"), [(1 * GIB, Outcome.MEMORY), (100 * MIB, Outcome.INFRA_ERROR)])
def test_a_call_that_the_kernel_kills_is_to_blame_if_it_had_much_memory(machine, peak, outcome, monkeypatch):
    """The kernel kills calls first, so it may kill a call although other programs took the memory."""
    killed = call(Worker(machine, 0))
    killed._phase, killed._peak = "", peak
    monkeypatch.setattr(call_module, "usable_memory", lambda: Memory(4 * GIB, 0, "the control group's"))
    ended = killed._killed_by_kernel()
    assert ended.outcome is outcome
    assert f"used {peak // MIB} MiB when last measured" in str(ended)
    assert "the kernel ended the worker when the control group's 4096 MiB were used up" in str(ended)
