"""The processors that this process may use, and environment variables by which libraries use fewer."""

import os

#: Environment variables with the number of threads of matrix products, in NumPy's OpenBLAS and other libraries.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def available_cores() -> int:
    """Return the number of processors that this process may use; without affinities, those of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
