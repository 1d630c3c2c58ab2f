"""Hides the entries of /proc that change, except the sandbox's own processes.

In these entries, the kernel counts the activity of the whole machine. Through a counter, a call could leave a message
for later calls, or notice concurrent calls. Files that libraries read are replaced by copies with constant content.
Files that only describe the machine stay visible.
"""

import os
from collections.abc import Iterable
from pathlib import Path

#: Visible entries: they never change, or show only the sandbox's own namespaces (sysvipc). Hiding them would slow down
#: every start.
FIXED = frozenset(
    {
        "acpi", "bootconfig", "bus", "cmdline", "config.gz", "consoles", "devices", "dma", "execdomains", "filesystems",
        "iomem", "ioports", "kallsyms", "misc", "mtrr", "partitions", "sysvipc", "tty", "version", "version_signature",
    }
)  # fmt: skip

#: Files that are replaced by copies: Python and TensorFlow read the number and type of processors there, and other
#: libraries read the size of the memory.
COPIED = ("cpuinfo", "meminfo", "stat")

#: With a GPU, `modules` is replaced, too: older versions of NVIDIA's library search this file for the driver.
COPIED_WITH_GPU = (*COPIED, "modules")

#: Name of the directory with the copies, next to the worker's code.
COPIES = "proc"


def hide(worker: Path | None, files: Iterable[str] = (), *, gpu: bool = False) -> list[str]:
    """Return bubblewrap's options that hide the changing entries of /proc, except `files`.

    If `worker` is the directory of the worker's code, the copies that `write_copies` wrote there replace some entries.
    """
    options: list[str] = []
    copied = COPIED_WITH_GPU if gpu else COPIED
    for entry in sorted(os.scandir("/proc"), key=lambda entry: entry.name):
        if entry.name.isdigit() or entry.name in FIXED or entry.is_symlink():
            continue
        if worker is not None and entry.name in copied:
            options += ["--ro-bind", str(worker / COPIES / entry.name), entry.path]
        elif entry.is_dir():
            inside = (file for file in files if file.startswith(f"{entry.path}/"))
            options += ["--tmpfs", entry.path, *show(inside, entry.path), "--remount-ro", entry.path]
        elif entry.stat().st_mode & 0o004:  # readable to others than root, and no process inside is root
            options += ["--ro-bind", "/dev/null", entry.path]  # mounted nodev, so that it cannot be opened
    return options


def show(paths: Iterable[str], below: str = "/") -> list[str]:
    """Return bubblewrap's options that mount files or directories read-only at their original paths."""
    options: list[str] = []
    created: set[Path] = set()
    for path in paths:
        for parent in reversed(Path(path).parents):
            if parent not in created and parent != Path(below) and parent.is_relative_to(below):
                options += ["--dir", str(parent)]  # only root could read parents that bubblewrap creates itself
                created.add(parent)
        options += ["--ro-bind", path, path]
    return options


def write_copies(worker: Path) -> None:
    """Write stand-ins for the files `COPIED_WITH_GPU` into the directory of the worker's code; they never change."""
    directory = worker / COPIES
    directory.mkdir()
    (directory / "cpuinfo").write_text(Path("/proc/cpuinfo").read_text(encoding="utf-8"), encoding="utf-8")
    (directory / "meminfo").write_text(_all_free(Path("/proc/meminfo").read_text(encoding="utf-8")), encoding="utf-8")
    (directory / "stat").write_text(_all_idle(Path("/proc/stat").read_text(encoding="utf-8")), encoding="utf-8")
    (directory / "modules").write_text(_drivers(_read_modules()), encoding="utf-8")


def _all_free(meminfo: str) -> str:
    """Return the text `meminfo` (of /proc/meminfo) with the same sizes, but with all memory free."""
    amounts = dict(line.split(":", 1) for line in meminfo.splitlines())
    fixed = dict.fromkeys(("MemTotal", "MemFree", "MemAvailable"), amounts["MemTotal"])
    fixed |= {name: amount for name, amount in amounts.items() if name == "Hugepagesize"}
    nothing = {name: " 0 kB".rjust(len(amount)) for name, amount in amounts.items()}
    return "".join(f"{name}:{amount}\n" for name, amount in (nothing | fixed).items())


def _all_idle(stat: str) -> str:
    """Return the text `stat` (of /proc/stat) with the same processors and boot time, but 0 for all activity."""
    lines = [line.split() for line in stat.splitlines()]
    still = [[name, *rest] if name == "btime" else [name, *("0" for _ in rest)] for name, *rest in lines]
    return "".join(f"{' '.join(words)}\n" for words in still)


def _read_modules() -> str:
    modules = Path("/proc/modules")
    return modules.read_text(encoding="utf-8") if modules.exists() else ""


def _drivers(modules: str) -> str:
    """Return a line per NVIDIA driver in `modules`, the text of /proc/modules; sizes, uses and addresses become 0."""
    names = (line.split()[0] for line in modules.splitlines() if line.startswith("nvidia"))
    return "".join(f"{name} 0 0 - Live 0x0000000000000000\n" for name in names)
