"""What a driver of a cluster can do in a second, and what a call costs more on a cluster than without one."""

import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stub_engine import Engine, Stub

from harness.execution.execute import execute
from harness.execution.executor import Executor
from harness.execution.executors.local import Local
from harness.execution.executors.ray import Ray, RayEngine
from harness.execution.run import make_plan
from harness.records import Records
from harness.sandbox import SandboxChoice
from harness.testing import STAGE, Parts
from tests.execution.planned_things import SETTINGS, make_submission, make_task
from tests.records.servers import MISSING, Server

SUBMISSIONS, MODELS = 100, 100

#: Calls of the comparison.
CALLS = 1_000


@pytest.fixture
def location() -> Iterator[str]:
    """A database of a server that waits for its disk."""
    if MISSING:
        pytest.skip(f"PostgreSQL is not installed: {MISSING} not found")
    directory = Path(tempfile.mkdtemp(prefix="pg"))
    server = Server(directory, fsync=True)
    yield server.url
    server.stop()
    shutil.rmtree(directory)


def test_ten_thousand_calls_on_512_lanes_into_postgresql(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    executor = type("On512", (Stub,), {"engine": Engine(machines=64, lanes=8)})(SandboxChoice(), None, None, print)
    submissions = [make_submission(f"s{number}", str(number).encode()) for number in range(SUBMISSIONS)]
    with Records(location) as records, executor:
        plan = make_plan(submissions, [make_task(MODELS)], SETTINGS, executor, records, force=False)
        planned, start = _peak_mib(), time.perf_counter()
        done = sum(1 for _ in execute(plan, executor, records, print, lambda _: None))
        seconds = time.perf_counter() - start
    print(f"{done} calls: {done / seconds:.0f} a second; {planned} MiB when planned, {_peak_mib()} MiB at the end")
    assert done == SUBMISSIONS * MODELS
    assert done / seconds > 500


class OnStage(Ray):
    """A cluster of Ray on this machine whose sandboxes are threads."""

    def connect(self, **parameters: str | None) -> RayEngine:
        return _Engine("auto")


class _Engine(RayEngine):
    def start(self, node: str) -> object:
        from machine_on_stage import MachineOnStage

        return self._ray.remote(MachineOnStage).options(num_cpus=2).remote(self._ray.get)


def test_a_call_on_a_cluster_costs_little_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or Ray writes a token into the user's home
    import ray

    monkeypatch.setenv("PGDL_CACHE", str(tmp_path))
    ray.init(num_cpus=2, log_to_driver=False, configure_logging=False, include_dashboard=False,
             runtime_env={"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}})  # fmt: skip
    try:
        seconds = {kind.__name__: _seconds_of(kind(STAGE, None, 2, print)) for kind in (Local, OnStage)}
    finally:
        ray.shutdown()
    more = 1e3 * (seconds["OnStage"] - seconds["Local"]) / CALLS
    print(f"{CALLS} calls: {seconds['Local']:.1f} s, on Ray {seconds['OnStage']:.1f} s: {more:.1f} ms more each")
    assert more < 10


def _seconds_of(executor: Executor) -> float:
    parts = Parts()
    with executor:
        executor.prepare(["tensorflow"])
        orders, returned = [parts.order("returns 1", model=f"model {number % 20}") for number in range(CALLS)], 0
        start = time.perf_counter()
        while returned < CALLS:
            if orders and (wanted := executor.wanted):
                executor.add(orders[:wanted], parts)
                del orders[:wanted]
            returned += executor.next(1.0) is not None
        return time.perf_counter() - start


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
