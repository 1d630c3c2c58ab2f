"""Tests of how many calls run in parallel, and with how many cores each."""

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
    """Return the lanes of a machine with these numbers of cores, GPUs and GiB of memory; `limit` is in GiB per call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "available_cores", lambda: cores)
        patch.setattr(machine, "usable_memory", lambda: Memory(memory * GIB, 0))
        patch.setattr(
            machine, "find_gpus", lambda: [Gpu(i, f"GPU-{i}", "NVIDIA H200", f"0000:{i}b:00.0") for i in range(gpus)]
        )
        return plan_lanes(workers, limit * GIB)


#: Why -> --workers and the machine; calls at once, threads of each, and sandboxes.
LANES: dict[str, tuple[int | None, dict[str, int], tuple[int, int, int]]] = {
    "a call per core, and one starts while another ends": (None, {"cores": 2}, (2, 1, 3)),
    "spare cores start the next sandbox": (1, {"cores": 2}, (1, 1, 2)),
    "one core is left to the harness": (4, {"cores": 16}, (4, 3, 8)),
    "more calls than cores": (4, {"cores": 2}, (4, 1, 5)),
    "a tenth of memory is left to the machine": (None, {"cores": 8, "memory": 16, "limit": 4}, (3, 2, 5)),
    "a call may need all memory": (None, {"cores": 8, "memory": 16, "limit": 64}, (1, 7, 2)),
    "a call per GPU": (None, {"cores": 16, "gpus": 2}, (2, 7, 4)),
    "more GPUs than cores": (None, {"cores": 2, "gpus": 4}, (4, 1, 5)),
    "fewer calls than GPUs": (1, {"cores": 16, "gpus": 2}, (1, 15, 2)),
}


def test_calls_side_by_side_and_too_many_of_them() -> None:
    for why, (workers, has, expected) in LANES.items():
        found = lanes(workers, **has)
        assert (found.workers, found.threads, found.sandboxes) == expected, why
        assert [gpu.minor for gpu in found.gpus] == [*range(has.get("gpus", 0))]
    with pytest.raises(UserError, match="--workers: one call per GPU: expected at most 2, found 3"):
        lanes(3, cores=16, gpus=2)
    with pytest.raises(UserError, match="--workers: expected a number from 1 to 8, or auto, found 9"):
        lanes(9, cores=2)


@given(st.integers(1, 256), st.integers(1, 300), st.integers(0, 8))
def test_calls_under_the_clock_never_share_a_core(cores: int, workers: int, gpus: int) -> None:
    workers = min(workers, gpus or 4 * cores)
    found = lanes(workers, cores=cores, gpus=gpus)
    assert found.threads >= 1
    assert found.workers * found.threads <= max(cores, workers)
    assert workers < found.sandboxes <= 2 * workers


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
