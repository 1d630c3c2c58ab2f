"""How many calls run side by side, and with how many cores each."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from harness.errors import UserError
from harness.execution import machine
from harness.execution.machine import Lanes, describe_machine, memory_for, plan_lanes
from harness.gpus import Gpu
from harness.machine_memory import Memory
from harness.sandbox import job
from harness.sandbox.job import GIB, MIB


def lanes(workers: int | None = None, *, cores: int, gpus: int = 0, memory: int = 1024, limit: int = 4) -> Lanes:
    """Lanes on a machine with so many cores, GPUs and GiB of memory; `limit` is GiB per call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "available_cores", lambda: cores)
        patch.setattr(machine, "usable_memory", lambda: Memory(memory * GIB, 0))
        patch.setattr(
            machine, "find_gpus", lambda: [Gpu(i, f"GPU-{i}", "NVIDIA H200", f"0000:{i}b:00.0") for i in range(gpus)]
        )
        return plan_lanes(workers, limit * GIB)


def test_one_call_per_core() -> None:
    found = lanes(cores=2)
    assert (found.workers, found.threads, found.sandboxes, found.gpus) == (2, 1, 3, ())


def test_fewer_calls_share_the_cores_and_leave_one_to_the_harness() -> None:
    found = lanes(4, cores=16)
    assert (found.workers, found.threads) == (4, 3)
    assert found.workers * found.threads < 16


def test_the_next_sandbox_is_started_on_cores_that_no_call_needs() -> None:
    assert lanes(1, cores=2).sandboxes == 2
    assert lanes(4, cores=16).sandboxes == 8
    assert lanes(2, cores=2).sandboxes == 3, "one starts while another ends"


def test_memory_bounds_the_calls_at_once() -> None:
    assert lanes(cores=8, memory=16, limit=4).workers == 3, "a tenth is left to the machine"
    assert lanes(cores=8, memory=16, limit=64).workers == 1


def test_one_call_per_gpu_whatever_the_cores() -> None:
    found = lanes(cores=16, gpus=2)
    assert (found.workers, found.threads, [gpu.minor for gpu in found.gpus]) == (2, 7, [0, 1])
    assert lanes(cores=2, gpus=4).workers == 4
    assert lanes(1, cores=16, gpus=2).workers == 1


def test_more_calls_than_gpus_are_refused() -> None:
    with pytest.raises(UserError, match="--workers: one call per GPU: expected at most 2, found 3"):
        lanes(3, cores=16, gpus=2)


@given(st.integers(1, 256), st.integers(1, 300), st.integers(0, 8))
def test_calls_under_the_clock_never_share_a_core(cores: int, workers: int, gpus: int) -> None:
    workers = min(workers, gpus or 4 * cores)
    found = lanes(workers, cores=cores, gpus=gpus)
    assert found.threads >= 1
    assert found.workers * found.threads <= max(cores, workers)
    assert workers < found.sandboxes <= 2 * workers


def test_many_more_calls_than_cores_are_refused() -> None:
    with pytest.raises(UserError, match="--workers: expected a number from 1 to 8, or auto, found 9"):
        lanes(9, cores=2)


def test_the_memory_of_a_call_has_to_fit_the_machine() -> None:
    assert memory_for(GIB) == GIB
    for size in (machine.LEAST_MEMORY - 1, 10**15):
        with pytest.raises(UserError, match=r"--memory: expected from 256M, which imports need, to the [a-z ]+'s \d"):
            memory_for(size)


def test_little_memory_lowers_the_limit_and_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "usable_memory", lambda: Memory(GIB, GIB, "the control group's"))
    said: list[str] = []
    assert memory_for(None, said.append) == 512 * MIB
    of = "at most 60 % of the control group's 1.0G"
    assert said == [f"the memory limit of a call is 512M, {of}; --memory sets another limit"]


def test_a_record_knows_the_machine() -> None:
    described = describe_machine()
    assert set(described) == {"kernel", "processor", "machine_class"}
    assert all(described.values())
