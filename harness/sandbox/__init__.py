"""Runs one call of a submission in its own sandbox, under limits that the harness enforces."""

from harness.sandbox.call import Call
from harness.sandbox.clock import Clock
from harness.sandbox.facts import MachineFacts
from harness.sandbox.job import Job, Limits
from harness.sandbox.kinds import KINDS, SandboxChoice
from harness.sandbox.kinds.kind import Kind
from harness.sandbox.staging import Staging

__all__ = ["KINDS", "Call", "Clock", "Job", "Kind", "Limits", "MachineFacts", "SandboxChoice", "Staging"]

#: Modules that other rooms may import, too: tests define sandboxes with them.
MODULES = ("running_sandbox", "processes")
