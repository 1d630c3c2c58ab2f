"""The NVIDIA GPUs of this machine, read from the files of their driver."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Gpu:
    """An NVIDIA GPU as its driver describes it."""

    minor: int  #: its device node is /dev/nvidia{minor}
    uuid: str  #: its name in CUDA_VISIBLE_DEVICES, which does not depend on the other GPUs
    model: str
    bus: str  #: its address on the PCI bus, e.g. 0000:3b:00.0


def find_gpus(root: Path = Path("/")) -> list[Gpu]:
    """Return this machine's NVIDIA GPUs in the order of their minor numbers; empty without a driver.

    A container may list GPUs that it cannot use, so a GPU without a device node is left out. `root` is the directory
    with `proc` and `dev`, which tests replace.
    """
    gpus = []
    for information in (root / "proc/driver/nvidia/gpus").glob("*/information"):
        fields = dict(re.findall(r"^(.+?):\s*(.*?)\s*$", information.read_text(), re.MULTILINE))
        gpu = Gpu(int(fields["Device Minor"]), fields["GPU UUID"], fields["Model"], information.parent.name)
        if (root / f"dev/nvidia{gpu.minor}").exists():
            gpus.append(gpu)
    return sorted(gpus, key=lambda gpu: gpu.minor)
