"""Imports all steps; `ORDER` is the order in which they run."""

import gpu_files
import gpu_machine
import gpu_memory
import gpu_runs

__all__ = ["ORDER", "gpu_files", "gpu_machine", "gpu_memory", "gpu_runs"]

#: The most telling first, because the time is limited.
ORDER = (
    "machine", "doctor", "kinds", "needed_files", "run_torch", "compare_torch", "growth", "host_limit", "kill",
    "traces", "one_of_several", "check_jax", "run_jax", "compare_jax", "check_torch",
)  # fmt: skip
