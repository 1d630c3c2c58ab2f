"""What a sandbox sees of /proc beside its own processes: nothing that moves.

The kernel counts there, for the whole machine, what anybody does. A call could leave a mark in such a count for every
later call, and notice those beside it, without looking at a clock. What libraries read is replaced by copies in which
everything stands still; what only describes the machine stays as it is.
"""

import os
from pathlib import Path

#: What says how the machine is made and was started, and does not change; or is of the sandbox' own namespaces
#: (sysvipc). To hide it would only make every start slower.
FIXED = frozenset(
    {
        "acpi", "bootconfig", "bus", "cmdline", "config.gz", "consoles", "devices", "dma", "execdomains", "filesystems",
        "iomem", "ioports", "kallsyms", "misc", "mtrr", "partitions", "sysvipc", "tty", "version", "version_signature",
    }
)  # fmt: skip

#: What NVIDIA's driver reads.
OF_GPU = frozenset({"driver", "modules", "sys"})

#: Files that are replaced by copies: Python and TensorFlow look up the number and the kind of the processors there,
#: others the size of the memory.
COPIED = ("cpuinfo", "meminfo", "stat")


#: The directory of the copies, beside the worker's code.
COPIES = "proc"


def hide(worker: Path | None, *, gpu: bool) -> list[str]:
    """Return bubblewrap's options that hide what moves; `worker` is where `write_copies` wrote to, if it did."""
    options: list[str] = []
    kept = FIXED | OF_GPU if gpu else FIXED
    for entry in sorted(os.scandir("/proc"), key=lambda entry: entry.name):
        if entry.name.isdigit() or entry.name in kept or entry.is_symlink():
            continue
        if worker is not None and entry.name in COPIED:
            options += ["--ro-bind", str(worker / COPIES / entry.name), entry.path]
        elif entry.is_dir():
            options += ["--tmpfs", entry.path, "--remount-ro", entry.path]
        elif entry.stat().st_mode & 0o004:  # nobody inside is root
            options += ["--ro-bind", "/dev/null", entry.path]  # on a mount without devices it cannot even be opened
    return options


def write_copies(worker: Path) -> None:
    """Write what takes the place of the files `COPIED`, beside the code of the worker."""
    directory = worker / COPIES
    directory.mkdir()
    (directory / "cpuinfo").write_text(Path("/proc/cpuinfo").read_text())
    (directory / "meminfo").write_text(_all_free(Path("/proc/meminfo").read_text()))
    (directory / "stat").write_text(_all_idle(Path("/proc/stat").read_text()))


def _all_free(meminfo: str) -> str:
    """The same amounts of memory and sizes of pages, with nothing in use."""
    amounts = dict(line.split(":", 1) for line in meminfo.splitlines())
    fixed = dict.fromkeys(("MemTotal", "MemFree", "MemAvailable"), amounts["MemTotal"])
    fixed |= {name: amount for name, amount in amounts.items() if name == "Hugepagesize"}
    nothing = {name: " 0 kB".rjust(len(amount)) for name, amount in amounts.items()}
    return "".join(f"{name}:{amount}\n" for name, amount in (nothing | fixed).items())


def _all_idle(stat: str) -> str:
    """The same processors and the same start of the machine, with nothing done since."""
    lines = [line.split() for line in stat.splitlines()]
    still = [[name, *rest] if name == "btime" else [name, *("0" for _ in rest)] for name, *rest in lines]
    return "".join(f"{' '.join(words)}\n" for words in still)
