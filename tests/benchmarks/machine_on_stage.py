"""The process that runs on each machine of a cluster, with threads in place of sandboxes."""

import harness.testing  # noqa: F401 - registers them
from harness.execution.cluster.machine import Machine


class MachineOnStage(Machine):
    """A machine that uses threads as sandboxes, in a separate module, since workers import it."""
