"""Runs one call of a submission in its own sandbox, under limits that the harness enforces."""

from harness.sandbox.call import Call
from harness.sandbox.clock import Clock
from harness.sandbox.job import Job, Launch, Limits
from harness.sandbox.kinds import KINDS, SandboxChoice, not_linux
from harness.sandbox.kinds.kind import Kind
from harness.sandbox.staging import Staging

__all__ = ["KINDS", "Call", "Clock", "Job", "Kind", "Launch", "Limits", "SandboxChoice", "Staging", "not_linux"]

#: Modules that other rooms may import, too: `pgdl doctor` uses the first three; tests define sandboxes with the others.
MODULES = ("bubblewrap", "cgroup", "devices", "processes", "running_sandbox")
