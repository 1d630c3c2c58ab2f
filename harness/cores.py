"""The processors that this process may use, and variables that let libraries use fewer."""

import os

#: Environment variables that bound the threads of products of matrices, in NumPy's OpenBLAS and elsewhere.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def available_cores() -> int:
    """Return the number of processors for this process; on systems without affinities, of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
