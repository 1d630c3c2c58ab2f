"""Runs one call of a submission in its own sandbox, under limits that the harness enforces.

Other rooms use the names exported here and nothing else of this room.
"""

from harness.sandbox.call import Call, StoppedError, prepare_call
from harness.sandbox.cgroup import cgroup_problem
from harness.sandbox.clock import Clock
from harness.sandbox.devices import Gpu, find_gpus, gpu_nodes
from harness.sandbox.job import Job
from harness.sandbox.kinds import (
    AUTO,
    AUTOMATIC,
    KINDS,
    SANDBOX,
    Fast,
    Fresh,
    Kind,
    Landlock,
    choose_kind,
    isolation_of,
    options_for,
)
from harness.sandbox.libraries import library as driver_library
from harness.sandbox.limits import Limits, default_memory_bytes
from harness.sandbox.selftest import CONTROL, run_traps, run_trial, trial_job
from harness.sandbox.staging import Staging

__all__ = [
    "AUTO", "AUTOMATIC", "CONTROL", "KINDS", "SANDBOX", "Call", "Clock", "Fast", "Fresh", "Gpu", "Job", "Kind",
    "Landlock", "Limits", "Staging", "StoppedError", "cgroup_problem", "choose_kind", "default_memory_bytes",
    "driver_library", "find_gpus", "gpu_nodes", "isolation_of", "options_for", "prepare_call", "run_traps",
    "run_trial", "trial_job",
]  # fmt: skip
