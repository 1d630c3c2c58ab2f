"""GPUs as their driver describes them, and what a sandbox sees of one."""

from pathlib import Path

from harness.sandbox.devices import SHARED_NODES, Gpu, find_gpus, gpu_mounts

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

GPU = Gpu(1, "GPU-22222222-0000", "NVIDIA H200")


def driver(directory: Path, *gpus: tuple[str, int, str]) -> Path:
    """A tree like /proc/driver/nvidia/gpus; each GPU is its bus, its minor number and its UUID."""
    for bus, minor, uuid in gpus:
        (directory / f"0000:{bus}:00.0").mkdir(parents=True)
        text = INFORMATION.format(bus=bus, minor=minor, uuid=uuid)
        (directory / f"0000:{bus}:00.0" / "information").write_text(text)
        (directory / f"0000:{bus}:00.0" / "registry").write_text('Binary: ""\n')
    return directory


def test_gpus_are_listed_by_their_device_nodes_not_by_their_buses(tmp_path: Path) -> None:
    found = find_gpus(driver(tmp_path, ("19", 10, "aaaa"), ("3b", 2, "bbbb"), ("5d", 0, "cccc")))
    assert found == [
        Gpu(0, "GPU-cccc", "NVIDIA H200"), Gpu(2, "GPU-bbbb", "NVIDIA H200"), Gpu(10, "GPU-aaaa", "NVIDIA H200"),
    ]  # fmt: skip


def test_a_machine_without_the_driver_has_none(tmp_path: Path) -> None:
    assert find_gpus(tmp_path / "nvidia") == []
    assert find_gpus(tmp_path) == []


def test_without_a_gpu_nothing_is_mounted() -> None:
    assert gpu_mounts(None) == []


def test_one_gpu_is_shown_and_no_other() -> None:
    arguments = gpu_mounts(GPU)
    nodes = [arguments[i + 1] for i, word in enumerate(arguments) if word == "--dev-bind-try"]
    assert nodes == ["/dev/nvidia1", *SHARED_NODES]
    assert not any(Path(node).name.removeprefix("nvidia").isdigit() for node in SHARED_NODES)
    assert arguments[-3:] == ["--ro-bind", "/sys", "/sys"]
