"""The processors that this process may use, and how libraries are told to use fewer."""

import os

#: Environment variables that bound the threads of products of matrices, in NumPy's OpenBLAS and elsewhere.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def available_cores() -> int:
    """Return how many there are; on systems without affinities, all of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
