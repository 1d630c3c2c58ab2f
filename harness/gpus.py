"""The NVIDIA GPUs of this machine, as listed in files of their driver."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Gpu:
    """An NVIDIA GPU as its driver describes it."""

    minor: int  #: number in the name of its device node, /dev/nvidia{minor}
    uuid: str  #: its name in CUDA_VISIBLE_DEVICES, independent of other GPUs
    model: str
    bus: str  #: its address on the PCI bus, such as 0000:3b:00.0


def find_gpus(root: Path = Path("/")) -> list[Gpu]:
    """Return this machine's NVIDIA GPUs, sorted by minor number; empty without a driver.

    A container may list GPUs that it cannot use. So GPUs without a device node are left out. `root` is the directory
    with `proc` and `dev`.
    """
    gpus = []
    for information in (root / "proc/driver/nvidia/gpus").glob("*/information"):
        fields = dict(re.findall(r"^(.+?):\s*(.*?)\s*$", information.read_text(encoding="utf-8"), re.MULTILINE))
        gpu = Gpu(int(fields["Device Minor"]), fields["GPU UUID"], fields["Model"], information.parent.name)
        if (root / f"dev/nvidia{gpu.minor}").exists():
            gpus.append(gpu)
    return sorted(gpus, key=lambda gpu: gpu.minor)
