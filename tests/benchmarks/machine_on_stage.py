"""The process on a machine of a cluster, with sandboxes that are threads."""

import harness.testing  # noqa: F401 - registers them
from harness.execution.cluster.machine import Machine


class MachineOnStage(Machine):
    """A machine with threads as sandboxes; a module of its own, so that workers can import it."""
