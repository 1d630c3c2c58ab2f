"""Measures the time of functions on a machine that may be busy."""

import time
from collections.abc import Callable


def seconds(function: Callable[[], object], repeats: int = 2) -> float:
    """Return the smallest wall time of several calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
