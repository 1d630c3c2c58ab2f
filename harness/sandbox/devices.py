"""The machine's GPUs, and the device nodes that a sandbox needs to use one."""

import re
from dataclasses import dataclass
from pathlib import Path

#: Shared device nodes that CUDA opens in addition to the GPU's own.
SHARED_NODES = (
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia-uvm-tools",
    "/dev/nvidia-modeset",
    "/dev/nvidia-caps",
)


@dataclass(frozen=True)
class Gpu:
    """One NVIDIA GPU as its driver describes it."""

    minor: int  #: its device node is /dev/nvidia{minor}
    uuid: str  #: selects it in CUDA_VISIBLE_DEVICES independently of the other visible GPUs
    model: str


def find_gpus(driver: Path = Path("/proc/driver/nvidia/gpus")) -> list[Gpu]:
    """Return this machine's NVIDIA GPUs in the order of their minor numbers, read from the driver without a library."""
    gpus = []
    for information in driver.glob("*/information"):
        fields = dict(re.findall(r"^(.+?):\s*(.*?)\s*$", information.read_text(), re.MULTILINE))
        gpus.append(Gpu(int(fields["Device Minor"]), fields["GPU UUID"], fields["Model"]))
    return sorted(gpus, key=lambda gpu: gpu.minor)


def gpu_mounts(gpu: Gpu | None) -> list[str]:
    """Return bubblewrap options that expose this GPU and no other; an empty list for None.

    A plain bind would mount the nodes `nodev`; CUDA also reads the description of the devices below /sys.
    """
    if gpu is None:
        return []
    arguments: list[str] = []
    for node in (f"/dev/nvidia{gpu.minor}", *SHARED_NODES):
        arguments += ["--dev-bind-try", node, node]
    return [*arguments, "--ro-bind", "/sys", "/sys"]
