"""Measures the time of functions on a machine that may be busy."""

import os
import time
from collections.abc import Callable
from typing import NamedTuple


class Seconds(NamedTuple):
    wall: float
    processor: float


def seconds(function: Callable[[], object], repeats: int = 2) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def of_children(function: Callable[[], object]) -> Seconds:
    """Return the wall time of a call, and the processor time of the processes that end during the call."""
    before, began = os.times(), time.perf_counter()
    function()
    wall, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Seconds(wall, used)
