"""Runs one call of a submission in its own sandbox, under limits that the harness enforces."""

from harness.sandbox.bubblewrap import becomes_others
from harness.sandbox.call import Call
from harness.sandbox.cgroup import cgroup_problem
from harness.sandbox.clock import Clock
from harness.sandbox.devices import driver_library, missing_nodes
from harness.sandbox.job import Job, Launch, Limits
from harness.sandbox.kinds import KINDS, SandboxChoice, not_linux
from harness.sandbox.kinds.fast import Fast
from harness.sandbox.kinds.kind import Kind
from harness.sandbox.kinds.landlock import Landlock
from harness.sandbox.staging import Staging

__all__ = [
    "KINDS", "Call", "Clock", "Fast", "Job", "Kind", "Landlock", "Launch", "Limits", "SandboxChoice", "Staging",
    "becomes_others", "cgroup_problem", "driver_library", "missing_nodes", "not_linux",
]  # fmt: skip

#: Modules that other rooms may import, too: tests define sandboxes with them.
MODULES = ("running_sandbox", "processes")
