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
            place = next(words)
            assert (next(words), next(words)) == ("--remount-ro", place)
            found[place] = "empty"
    return found


@pytest.mark.parametrize("gpu", [False, True])
def test_whatever_others_may_read_and_is_not_known_to_stand_still_is_hidden(tmp_path: Path, gpu: bool) -> None:
    hidden = places(proc.hide(tmp_path, gpu=gpu))
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() or entry.is_symlink() or not entry.stat().st_mode & 0o004:
            continue
        if entry.name in proc.COPIED:
            assert hidden[entry.path] == str(tmp_path / "proc" / entry.name)
        elif entry.name in proc.FIXED or (gpu and entry.name in proc.OF_GPU):
            assert entry.path not in hidden
        else:
            assert hidden[entry.path] == ("empty" if entry.is_dir() else "/dev/null")


def test_processes_and_links_to_them_stay(tmp_path: Path) -> None:
    names = [Path(place).name for place in places(proc.hide(tmp_path, gpu=False))]
    assert not [name for name in names if name.isdigit() or name in ("self", "thread-self", "mounts", "net")]


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
