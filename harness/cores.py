"""The processor cores that this process may use, and variables that limit the threads of libraries."""

import os

#: Environment variables that limit the threads of matrix products, in OpenMP and in NumPy's OpenBLAS.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def available_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
