"""Runs one call of a submission in its own sandbox, under limits that the harness enforces.

Other rooms use the names exported here and nothing else of this room.
"""

from harness.sandbox.bubblewrap import becomes_others
from harness.sandbox.call import AT, Call, StoppedError, prepare_call
from harness.sandbox.cgroup import cgroup_problem
from harness.sandbox.clock import Clock
from harness.sandbox.devices import Gpu, find_gpus, gpu_nodes
from harness.sandbox.devices import library as driver_library
from harness.sandbox.job import Job, Limits, default_memory_bytes
from harness.sandbox.kinds import AUTOMATIC, KINDS, SandboxChoice, choose_kind, not_linux, options_for
from harness.sandbox.kinds.fast import Fast
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.kinds.kind import AUTO, SANDBOX, Kind, Parameter, Warn
from harness.sandbox.kinds.landlock import Landlock
from harness.sandbox.process import TAIL
from harness.sandbox.selftest import CONTROL, TRAPS, run_traps, run_trial, trial_job
from harness.sandbox.staging import Staging

__all__ = [
    "AT", "AUTO", "AUTOMATIC", "CONTROL", "KINDS", "SANDBOX", "TAIL", "TRAPS", "Call", "Clock", "Fast", "Fresh", "Gpu",
    "Job", "Kind", "Landlock", "Limits", "Parameter", "SandboxChoice", "Staging", "StoppedError", "Warn",
    "becomes_others", "cgroup_problem", "choose_kind", "default_memory_bytes", "driver_library", "find_gpus",
    "gpu_nodes", "not_linux", "options_for", "prepare_call", "run_traps", "run_trial", "trial_job",
]  # fmt: skip

#: Modules for other rooms, beside the names above: for sandboxes that a test plays.
MODULES = ("running_sandbox", "processes")
