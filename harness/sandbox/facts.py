"""Facts about this machine on which its sandboxes depend, for `pgdl doctor`."""

import platform
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UserError
from harness.gpus import find_gpus
from harness.sandbox.bubblewrap import becomes_others
from harness.sandbox.cgroup import cgroup_problem
from harness.sandbox.devices import driver_library, gpu_nodes


@dataclass(frozen=True)
class MachineFacts:
    """What this machine has and lacks for sandboxes."""

    not_linux: UserError | None  #: why only a container engine can sandbox calls; None on Linux
    becomes_others: bool  #: whether workers run as other users than the harness
    cgroup_problem: str | None  #: why the kernel does not limit the memory of calls; None if it does
    driver_library: Path | None  #: library of the GPUs' driver; None if it is not found, or without GPUs
    missing_nodes: tuple[str, ...]  #: paths of the GPUs' device nodes that do not exist


def examine_machine() -> MachineFacts:
    """Return the facts about this machine; on Linux, create a control group and remove it again."""
    elsewhere, gpus = not_linux(), find_gpus()
    nodes = {node for gpu in gpus for node in gpu_nodes(gpu)}
    return MachineFacts(
        not_linux=elsewhere,
        becomes_others=elsewhere is None and becomes_others(),
        cgroup_problem=None if elsewhere else cgroup_problem(),
        driver_library=driver_library() if gpus else None,
        missing_nodes=tuple(sorted(node for node in nodes if not Path(node).exists())),
    )


def not_linux() -> UserError | None:
    """Return why only a container engine can sandbox calls on this system; None on Linux."""
    if (system := platform.system()) == "Linux":
        return None
    remedy = "with a Docker engine, --sandbox docker; for your own code only, --unsafe-no-sandbox (pgdl help systems)"
    return UserError("sandboxed calls", expected="Linux", found=system, remedy=remedy)
