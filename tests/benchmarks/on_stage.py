"""A cluster of Ray with threads in place of sandboxes, and a driver of calls on it that can be killed."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from harness.execution.executor import Executor
from harness.execution.executors.ray import Ray, RayEngine
from harness.testing import STAGE, Parts

#: Variables with which a machine's process finds this folder and the harness.
RUNTIME = {"env_vars": {"PYTHONPATH": ":".join(str(Path(__file__).parents[up]) for up in (0, 2))}}


class OnStage(Ray):
    """The cluster of Ray to which this process is connected, with threads in place of sandboxes."""

    def connect(self, **parameters: str | None) -> RayEngine:
        return _Engine("auto")


class _Engine(RayEngine):
    def machine(self) -> type:
        from machine_on_stage import MachineOnStage

        return MachineOnStage


def make_calls(executor: Executor, n_calls: int, then: Callable[[int], None] = lambda _: None) -> None:
    """Make `n_calls` calls; `then` is called regularly with the number of calls that have returned."""
    parts = Parts()
    orders, returned = [parts.order("returns 1", model=f"model {number % 20}") for number in range(n_calls)], 0
    while returned < n_calls:
        if orders and (wanted := executor.wanted):
            executor.add(orders[:wanted], parts)
            del orders[:wanted]
        if executor.next(1.0) is not None:
            returned += 1
        then(returned)


def main(address: str) -> None:
    """Make calls without end, and print the time of each."""
    import ray

    ray.init(address, log_to_driver=False, configure_logging=False, runtime_env=RUNTIME)
    with OnStage(STAGE, None, 2, print) as executor:
        executor.prepare(["tensorflow"])
        make_calls(executor, 10**5, lambda _: print(time.time(), flush=True))


if __name__ == "__main__":
    main(sys.argv[1])
