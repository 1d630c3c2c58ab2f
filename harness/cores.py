"""The processors that this process may use."""

import os


def available_cores() -> int:
    """Return how many there are; on systems without affinities, all of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
