"""Tests of usable memory, read from directories that imitate the kernel's control groups."""

from pathlib import Path

import psutil
import pytest

from harness import machine_memory
from harness.configuration import MIB
from harness.machine_memory import Memory, memory_kills, usable_memory

#: Version of control groups -> its files for limit and usage, prefix of its statistics, and its file for events.
FILES = {
    "cgroup2": ("memory.max", "memory.current", "", "memory.events"),
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_", "memory.oom_control"),
}


class Kernel:
    """Files that imitate the control groups around this process."""

    def __init__(self, directory: Path, version: str) -> None:
        self.directory, self.version = directory, version
        self.proc, self.mount = directory / "proc", directory / "mount"
        self.proc.mkdir()
        self.mount.mkdir()

    def group(self, path: str, limit: str, used: int = 0, files: int = 0, kills: int = 0) -> None:
        """Write the files of a control group; sizes are in MiB."""
        group = self.mount / path
        group.mkdir(exist_ok=True)
        bound, usage, prefix, events = FILES[self.version]
        (group / bound).write_text(f"{limit}\n")
        (group / usage).write_text(f"{used * MIB}\n")
        half = files * MIB // 2
        (group / "memory.stat").write_text(
            f"anon 5\n{prefix and 'active_file 7'}\n{prefix}active_file {half}\n{prefix}inactive_file {half}\n"
        )
        (group / events).write_text(f"under_oom 0\noom 9\noom_kill {kills}\n")

    def enter(self, path: str, root: str = "/") -> None:
        """Put this process into the group `path`; `root` is the group at the mount point."""
        other = "1:name=systemd:/elsewhere\n"
        number = "0:" if self.version == "cgroup2" else "4:memory"
        (self.proc / "cgroup").write_text(f"{other}{number}:{path}\n")
        options = "rw" if self.version == "cgroup2" else "rw,memory"
        lines = ["31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw", "32 23 0:29 / /cpu rw - cgroup cgroup rw,cpu"]
        lines += [f"41 31 0:38 {root} {self.mount} rw,relatime shared:9 - {self.version} cgroup {options}"]
        medium = b"30 23 8:1 / /media/\xfcbung rw - vfat  rw\n"  # a name in Latin-1, and no name of a device
        (self.proc / "mountinfo").write_bytes(medium + ("\n".join(lines) + "\n").encode())


@pytest.fixture(params=FILES)
def kernel(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel(tmp_path, request.param)
    groups = machine_memory._groups.__wrapped__
    monkeypatch.setattr(machine_memory, "_groups", lambda: groups(kernel.proc))
    return kernel


def unlimited(version: str) -> str:
    return "max" if version == "cgroup2" else "9223372036854771712"


def test_without_a_limit_and_without_control_groups_it_is_the_machines(kernel: Kernel) -> None:
    machine = psutil.virtual_memory().total
    assert (usable_memory().total, memory_kills()) == (machine, 0)
    kernel.group("a", unlimited(kernel.version), used=10)
    kernel.enter("/a")
    assert (usable_memory().total, usable_memory().whose) == (machine, "the machine's")


@pytest.mark.parametrize(
    ("outer", "inner", "left"),
    [((60, 50, 40), (90, 10, 0), 50), ((90, 85, 0), (60, 10, 0), 5), ((60, 10, 0), (90, 85, 0), 5)],
    ids=["whoever set it", "what is left is that of the fullest group", "also of an inner one"],
)  # fmt: skip
def test_the_smallest_limit_counts(
    kernel: Kernel, outer: tuple[int, int, int], inner: tuple[int, int, int], left: int
) -> None:
    for path, (limit, used, files) in (("a", outer), ("a/b", inner)):
        kernel.group(path, str(limit * MIB), used, files)
    kernel.enter("/a/b")
    assert usable_memory() == Memory(60 * MIB, left * MIB, "the control group's")


@pytest.mark.parametrize(("path", "root"), [("/docker/1f", "/docker/1f"), ("/", "/"), ("/../else", "/")])
def test_a_container_sees_its_own_group_at_the_mount(kernel: Kernel, path: str, root: str) -> None:
    kernel.group(".", str(60 * MIB), used=10)
    kernel.enter(path, root)
    assert usable_memory().total == 60 * MIB


def test_kills_are_counted(kernel: Kernel) -> None:
    kernel.enter("/a")
    for kills in (2, 3):
        kernel.group("a", str(60 * MIB), kills=kills)
        assert memory_kills() == kills
