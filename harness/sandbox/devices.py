"""The device nodes and files that a sandbox shows to a call with a GPU.

`NODES` and `FILES` are the whole list; the rest of /dev, /proc and /sys stays as hidden as without a GPU.
The list comes from published traces of CUDA with drivers 418 to 595, and from the sources of nvidia-modprobe, XLA,
gVisor and NVIDIA's container library. A call also needs the directory of the driver's libraries, unless the loader
finds them in the system's directories.
"""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from harness import children
from harness.gpus import Gpu, find_gpus

#: Device nodes of a call with a GPU, each with its reason. Left out are other GPUs, and nodes for displays
#: (nvidia-modeset), debuggers (nvidia-uvm-tools) and parts of a GPU (nvidia-caps).
NODES = {
    "/dev/nvidiactl": "control node of the driver: every program that uses a GPU opens it",
    "/dev/nvidia{minor}": "the call's own GPU",
    "/dev/nvidia-uvm": "memory that processor and GPU share: CUDA opens it first of all",
}

#: Files of a call with a GPU, each with its reason. `*` means any number. Their content is constant: no counters,
#: clocks or temperatures.
FILES = {
    "/proc/driver/nvidia/params": "settings of the driver, among them the permissions of its device nodes",
    "/proc/driver/nvidia/gpus/{bus}/information": "model and UUID of the call's own GPU",
    "/proc/driver/nvidia/gpus/{bus}/numa_status": "whether the GPU's memory is also the processor's",
    "/proc/driver/nvidia/gpus/{bus}/registry": "settings of the call's own GPU",
    "/proc/sys/vm/mmap_min_addr": "the lowest address that the driver may reserve",
    "/sys/module/nvidia/initstate": "CUDA requires that the driver is loaded, and looks here",
    "/sys/module/nvidia_uvm/initstate": "the same for the driver of shared memory",
    "/sys/devices/system/memory/block_size_bytes": "size of the blocks in which memory can be added to the machine",
    "/sys/devices/system/cpu/online": "numbers of the processors",
    "/sys/devices/system/cpu/possible": "numbers of the processors",
    "/sys/devices/system/node/online": "numbers of the memory nodes",
    "/sys/devices/system/node/possible": "numbers of the memory nodes",
    "/sys/devices/system/node/node*/cpumap": "processors of a memory node: the driver reserves memory on the nearest",
    "/sys/devices/system/node/node*/cpulist": "the same, as a list",
    "/sys/bus/pci/devices/{bus}/numa_node": "the GPU's memory node: XLA allocates host memory there",
}


def gpu_nodes(gpu: Gpu) -> list[str]:
    """Return the paths of the device nodes that a GPU needs, even if they do not exist."""
    return [_fill(node, gpu) for node in NODES]


def gpu_files(gpu: Gpu, root: Path = Path("/")) -> list[str]:
    """Return the paths of the existing files that a GPU needs; `root` is the directory with `proc` and `sys`."""
    found: Iterator[Path] = (path for file in FILES for path in sorted(root.glob(_fill(file, gpu).lstrip("/"))))
    return [f"/{path.relative_to(root)}" for path in found]


def missing_nodes() -> list[str]:
    """Return the paths of the device nodes that this machine's GPUs need but that do not exist, sorted."""
    nodes = {node for gpu in find_gpus() for node in gpu_nodes(gpu)}
    return sorted(node for node in nodes if not Path(node).exists())


def _fill(path: str, gpu: Gpu) -> str:
    return path.replace("{minor}", str(gpu.minor)).replace("{bus}", gpu.bus)


#: The library through which every framework uses the GPU driver.
LIBRARY = "libcuda.so.1"

#: Directories of the driver that the loader does not know on some systems: containers of some clouds, WSL, NixOS.
USUAL = ("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib", "/run/opengl-driver/lib")

#: Program that loads the library without starting the driver, and prints the memory map, which contains its path.
LOAD = f"import ctypes; ctypes.CDLL({LIBRARY!r}); print(*open('/proc/self/maps'))"


def search_path() -> list[Path]:
    """Return the GPU driver's library directories outside the system's directories; empty without a GPU."""
    return list(_search_path(os.environ.get("LD_LIBRARY_PATH", ""))) if find_gpus() else []


def driver_library() -> Path | None:
    """Return the path of the GPU driver's library; None if it is not found."""
    known = _known_to_loader()
    found = [directory / LIBRARY for directory in search_path()]
    return found[0] if found else known


@cache
def _search_path(given: str) -> tuple[Path, ...]:
    known = _known_to_loader()
    if known is not None and known.is_relative_to("/usr"):
        return ()
    directories = [Path(name) for name in (*given.split(":"), *USUAL) if name.startswith("/")]
    first = next((directory for directory in directories if (directory / LIBRARY).exists()), None)
    if first is None:
        return () if known is None else (known.parent,)
    return tuple(dict.fromkeys((first, (first / LIBRARY).resolve().parent)))  # it may link to another directory


@cache
def _known_to_loader() -> Path | None:
    without = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = children.run(children.interpreter(LOAD, options=("-S",)), without, seconds=60)
    paths = (line.split(maxsplit=5)[-1] for line in os.fsdecode(done.stdout).splitlines() if "/libcuda.so" in line)
    return next((Path(path) for path in paths), None)
