"""The process on a machine of a cluster, with sandboxes that are threads."""

import harness.testing  # noqa: F401 - registers them
from harness.execution.cluster.machine import Machine


class MachineOnStage(Machine):
    """Found in this module, which is therefore imported where it runs."""
