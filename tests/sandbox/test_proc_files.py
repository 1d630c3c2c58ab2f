"""What a sandbox sees of /proc beside its processes: the machine as it is made, with nothing going on."""

import os
from pathlib import Path

import psutil
import pytest

from harness.sandbox import proc


def places(options: list[str]) -> dict[str, str]:
    """What is mounted, by its place; a word of its own for an empty directory."""
    found, words = {}, iter(options)
    for option in words:
        if option == "--ro-bind":
            source = next(words)
            found[next(words)] = source
        elif option == "--tmpfs":
            found[next(words)] = "empty"
        else:
            assert option in ("--dir", "--remount-ro")
            next(words)
    return found


@pytest.mark.parametrize("gpu", [False, True])
def test_whatever_others_may_read_and_is_not_known_to_stand_still_is_hidden(tmp_path: Path, gpu: bool) -> None:
    hidden = places(proc.hide(tmp_path, gpu=gpu))
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() or entry.is_symlink() or not entry.stat().st_mode & 0o004:
            continue
        if entry.name in (proc.COPIED_WITH_GPU if gpu else proc.COPIED):
            assert hidden[entry.path] == str(tmp_path / "proc" / entry.name)
        elif entry.name in proc.FIXED:
            assert entry.path not in hidden
        else:
            assert hidden[entry.path] == ("empty" if entry.is_dir() else "/dev/null")


def test_processes_and_links_to_them_stay(tmp_path: Path) -> None:
    names = [Path(place).name for place in places(proc.hide(tmp_path, gpu=False))]
    assert not [name for name in names if name.isdigit() or name in ("self", "thread-self", "mounts", "net")]


def test_files_in_a_hidden_directory_are_shown_before_it_is_closed(tmp_path: Path) -> None:
    shown = "/proc/sys/vm/mmap_min_addr"
    options = proc.hide(tmp_path, [shown, "/sys/elsewhere"], gpu=True)
    begin = options.index("/proc/sys") - 1
    assert options[begin : begin + 9] == [
        "--tmpfs", "/proc/sys", "--dir", "/proc/sys/vm", "--ro-bind", shown, shown, "--remount-ro", "/proc/sys",
    ]  # fmt: skip
    assert "/sys/elsewhere" not in options


def test_the_copy_of_the_modules_names_the_driver_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = "nvidia_uvm 1536000 4 - Live 0xffffffffc1\next4 9 1 - Live 0x2\nnvidia 7 54 nvidia_uvm, Live 0x3 (OE)\n"
    monkeypatch.setattr(proc, "_read_modules", lambda: modules)
    proc.write_copies(tmp_path)
    copy = (tmp_path / "proc" / "modules").read_text()
    assert copy == "".join(f"{name} 0 0 - Live 0x0000000000000000\n" for name in ("nvidia_uvm", "nvidia"))


def test_without_a_job_there_are_no_copies() -> None:
    assert {places(proc.hide(None, gpu=False))[f"/proc/{name}"] for name in proc.COPIED} == {"/dev/null"}


def test_copies_say_what_there_is_and_nothing_of_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, processors, started = psutil.virtual_memory().total, psutil.cpu_count(), psutil.boot_time()
    proc.write_copies(tmp_path)
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path / "proc"))
    found = psutil.virtual_memory()
    assert (found.total, found.available, found.used, found.cached) == (memory, memory, 0, 0)
    assert psutil.cpu_count() == processors
    assert abs(psutil.boot_time() - started) <= 1, "it is counted back from now"
    assert sum(psutil.cpu_times()) == 0
