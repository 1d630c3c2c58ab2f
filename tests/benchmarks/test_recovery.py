"""Benchmark of recovery: seconds until a cluster of Ray works again after a process, machine or driver was killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from on_stage import RUNTIME, OnStage, make_calls

from harness.testing import STAGE

pytest.importorskip("ray", reason="the extra [ray] is not installed")

#: Within so many seconds.
RECOVERY_S = 30.0

CALLS = 2_000


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster on this computer: two machines, and a head that makes no calls."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # or Ray writes a token into the user's home
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", RUNTIME["env_vars"]["PYTHONPATH"])
    import ray
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        found.add_node(num_cpus=2)
    yield found
    ray.shutdown()
    found.shutdown()


class Recovery:
    """Kills something during a run, and measures the seconds until all remaining machines make calls again."""

    def __init__(self, executor: OnStage, kill: Callable[[], None], machines_left: int) -> None:
        self.executor, self._kill, self._machines_left = executor, kill, machines_left
        self._killed_at = self.noticed_s = self.seconds = 0.0
        self._before: set[str] = set()

    def then(self, returned: int) -> None:
        """Kill after a quarter of the calls; set `seconds` when all remaining machines make calls again."""
        making = {one.ready.incarnation for one in self.executor.fleet.members if one.makes_calls and one.ready}
        if not self._killed_at and returned >= CALLS // 4:
            self._before = making
            self._kill()
            self._killed_at = time.monotonic()
        elif self._killed_at and not self.seconds:
            after_s = time.monotonic() - self._killed_at
            if self._before - making:
                self.noticed_s = self.noticed_s or after_s
                self.seconds = after_s if len(making) == self._machines_left else 0.0


@pytest.mark.parametrize("victim", ["process", "machine"])
def test_a_lost_machine(cluster: Any, victim: str) -> None:
    import ray

    def kill() -> None:
        if victim == "process":
            os.kill(_machines()[0].pid, signal.SIGKILL)
        else:
            cluster.remove_node(max(cluster.worker_nodes, key=id), allow_graceful=False)

    ray.init(cluster.address, log_to_driver=False, configure_logging=False, runtime_env=RUNTIME)
    with OnStage(STAGE, None, 2, print) as executor:
        executor.prepare(["tensorflow"])
        recovery = Recovery(executor, kill, machines_left=2 if victim == "process" else 1)
        make_calls(executor, CALLS, recovery.then)
        until = time.monotonic() + RECOVERY_S
        while not recovery.seconds and time.monotonic() < until:
            make_calls(executor, 10, recovery.then)
    print(f"{victim} killed: noticed after {recovery.noticed_s:.1f} s, calls as before after {recovery.seconds:.1f} s")
    assert 0 < recovery.seconds < RECOVERY_S


def test_a_killed_driver(cluster: Any) -> None:
    command = [sys.executable, str(Path(__file__).with_name("on_stage.py")), cluster.address]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    _await_calls(first, 100)
    first.kill()
    killed_at = time.time()
    second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    seconds = _await_calls(second, 1) - killed_at
    second.kill()
    print(f"driver killed: the next one's first call returned after {seconds:.1f} s")
    assert seconds < RECOVERY_S


def _await_calls(driver: "subprocess.Popen[str]", n_calls: int) -> float:
    """Wait until a driver has made calls, and return the time of the last call."""
    at = 0.0
    for line in driver.stdout or ():
        if line.replace(".", "").strip().isdecimal():
            at, n_calls = float(line), n_calls - 1
            if n_calls == 0:
                return at
        else:
            print(line, end="")
    raise AssertionError("the driver has ended")


def _machines() -> list[psutil.Process]:
    return [one for one in psutil.process_iter() if one.name().startswith("ray::MachineOnStage")]
