"""The facts about this machine's support for sandboxes that `pgdl doctor` reports."""

import platform
from functools import cached_property
from pathlib import Path

from harness.errors import UserError
from harness.gpus import find_gpus
from harness.sandbox.bubblewrap import becomes_others
from harness.sandbox.cgroup import cgroup_problem
from harness.sandbox.devices import driver_library, gpu_nodes


class MachineFacts:
    """Facts about this machine that matter to sandboxes. Each is determined when it is first read."""

    @cached_property
    def not_linux(self) -> UserError | None:
        """Error that says why only a container engine can sandbox calls here; None on Linux."""
        return not_linux()

    @cached_property
    def becomes_others(self) -> bool:
        """Whether workers run as other users than the harness' user."""
        return self.not_linux is None and becomes_others()

    @cached_property
    def cgroup_problem(self) -> str | None:
        """Why the kernel cannot limit the memory of calls; None if a trial with a control group succeeds."""
        return None if self.not_linux else cgroup_problem()

    @cached_property
    def driver_library(self) -> Path | None:
        """Path of the GPU driver's library; None if it is not found."""
        return driver_library()

    @cached_property
    def missing_nodes(self) -> list[str]:
        """Paths of device nodes that the GPUs need but that do not exist, sorted."""
        nodes = {node for gpu in find_gpus() for node in gpu_nodes(gpu)}
        return sorted(node for node in nodes if not Path(node).exists())


def not_linux() -> UserError | None:
    """Return an error that says why only a container engine can sandbox calls here; None on Linux."""
    if (system := platform.system()) == "Linux":
        return None
    own = "for your own code only, pgdl run --unsafe-no-sandbox (pgdl help systems)"
    remedy = f"with a Docker engine, --sandbox docker; {own}"
    return UserError("sandboxed calls", expected="Linux", found=system, remedy=remedy)
