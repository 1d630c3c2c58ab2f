"""Benchmark of clusters: the speed of the driver, and the overhead of a call."""

import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from on_stage import RUNTIME, OnStage, make_calls
from stopwatch import seconds
from stub_engine import Engine, Stub

from harness.execution.execute import execute
from harness.execution.executor import Executor
from harness.execution.executors.local import Local
from harness.execution.plan import plan_calls
from harness.execution.run import make_plan
from harness.records import Records
from harness.sandbox import SandboxChoice
from harness.testing import STAGE
from tests.execution.planned_things import SETTINGS, make_submission, make_task
from tests.records.servers import serving

SUBMISSIONS, MODELS = 100, 100

#: Calls of the comparison.
CALLS = 1_000


@pytest.fixture
def location() -> Iterator[str]:
    """The location of a database on a server that waits until data are on disk."""
    with serving(fsync=True) as server:
        yield server.url


def test_ten_thousand_calls_on_512_lanes_into_postgresql(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    executor = type("On512", (Stub,), {"engine": Engine(machines=64, lanes=8)})(SandboxChoice(), None, None, print)
    submissions = [make_submission(f"s{number}", str(number).encode()) for number in range(SUBMISSIONS)]
    with Records(location) as records, executor:
        plan = make_plan(plan_calls(submissions, [make_task(MODELS)], SETTINGS, executor), records)
        planned, start = _peak_mib(), time.perf_counter()
        done = sum(1 for _ in execute(plan, executor, records, print, lambda _: None))
        rate = done / (time.perf_counter() - start)
    print(f"{done} calls: {rate:.0f} a second; {planned} MiB when planned, {_peak_mib()} MiB at the end")
    assert done == SUBMISSIONS * MODELS
    assert rate > 500


def test_a_call_on_a_cluster_costs_little_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or Ray writes a token into the user's home
    import ray

    monkeypatch.setenv("PGDL_CACHE", str(tmp_path))
    ray.init(num_cpus=2, log_to_driver=False, configure_logging=False, include_dashboard=False,
             runtime_env=RUNTIME)  # fmt: skip
    try:
        taken = {kind.__name__: _seconds_of(kind(STAGE, None, 2, print)) for kind in (Local, OnStage)}
    finally:
        ray.shutdown()
    more = 1e3 * (taken["OnStage"] - taken["Local"]) / CALLS
    print(f"{CALLS} calls: {taken['Local']:.1f} s, on Ray {taken['OnStage']:.1f} s: {more:.1f} ms more each")
    assert more < 10


def _seconds_of(executor: Executor) -> float:
    with executor:
        executor.prepare(["tensorflow"])
        return seconds(lambda: make_calls(executor, CALLS), repeats=1)


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
