"""Files with which a driver describes GPUs."""

from pathlib import Path

INFORMATION = """\
Model: \t\t NVIDIA H200
IRQ:   \t\t 163
GPU UUID: \t GPU-{uuid}
Video BIOS: \t 96.00.bc.00.02
Bus Type: \t PCIe
DMA Size: \t 52 bits
DMA Mask: \t 0xfffffffffffff
Bus Location: \t 0000:{bus}:00.0
Device Minor: \t {minor}
GPU Firmware: \t 570.124.06
GPU Excluded:\t No
"""


def machine(root: Path, *gpus: tuple[str, int, str]) -> Path:
    """Write the files of a machine with these GPUs, each as (bus, minor number, UUID); return `root`."""
    (root / "dev").mkdir(parents=True)
    for bus, minor, uuid in gpus:
        described = root / f"proc/driver/nvidia/gpus/0000:{bus}:00.0"
        described.mkdir(parents=True)
        (described / "information").write_text(INFORMATION.format(bus=bus, minor=minor, uuid=uuid))
        (described / "power").write_text("Video Memory: Active\n")
        (root / f"dev/nvidia{minor}").touch()
    return root
