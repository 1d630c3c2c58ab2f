"""Tests of a call's processes, of the placeholder that holds its sandbox open, and of the call's view of /proc."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from sandbox.usable_kinds import usable

from harness.process_identity import start_time
from harness.sandbox import proc
from harness.sandbox.job import Job, Launch, Limits
from harness.sandbox.kinds.fast import Placeholder
from harness.sandbox.kinds.fresh import Fresh
from harness.sandbox.processes import Namespace, Tree
from harness.sandbox.running_sandbox import StartError
from harness.sandbox.staging import Staging

#: Starts a daemon whose parent is gone. The processes have a name that is no text, with a line of /proc/PID/status.
PROGRAM = r"""
import ctypes, os, sys
ctypes.CDLL(None).prctl(15, b"\xff\x0cNSpid:\t1")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        sys.stdin.read()
    os._exit(0)
os.wait()
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def sandboxed(program: str) -> Iterator[int]:
    """Start Python with `program` in a new process namespace; yield the process ID of its first process."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    source, info = os.pipe()
    command = ["bwrap", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--info-fd", str(info)]
    with subprocess.Popen(
        [*command, sys.executable, "-c", program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=(info,),
    ) as process:  # fmt: skip
        os.close(info)
        assert process.stdout is not None
        with os.fdopen(source) as answer:
            described = answer.read()
        if not process.stdout.readline():
            pytest.skip(f"bubblewrap does not work here: {process.communicate()[1]}")
        yield json.loads(described)["child-pid"]
        process.communicate()


def test_a_namespace_has_everything_that_runs_in_it() -> None:
    own = Namespace(os.getpid())
    assert (own.entries(), own.root()) == ([], None), "it still sees the machine, so it is not made yet"
    with sandboxed(PROGRAM) as first:
        namespace = Namespace(first)
        assert namespace.root() is not None
        entries, numbers = namespace.entries(), namespace.numbers()
        assert {Path(entry).name for entry in entries} == {"1", "2", "4"}, "bubblewrap's own, the program, the daemon"
        assert set(numbers) == set(entries)
        assert first in numbers.values()
        assert all(start_time(number) for number in numbers.values())
        for entry, number in numbers.items():
            assert Path(entry, "exe").readlink() == Path(f"/proc/{number}/exe").readlink()
    namespace.close()
    assert (namespace.entries(), namespace.root()) == ([], None)


def test_a_tree_has_children_and_their_children() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        below = int(shell.stdout.readline())
        entries = Tree(shell.pid).entries()
        assert sorted(entries) == sorted(f"/proc/{pid}" for pid in (shell.pid, below))
        assert Tree(shell.pid).numbers() == {entry: int(entry[6:]) for entry in entries}
        os.kill(below, 9)
    assert Tree(shell.pid).entries() == []


def places(options: list[str]) -> dict[str, str]:
    """Return target -> source of the mounts; an empty directory has the source "empty"."""
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
    names = [Path(place).name for place in hidden]
    assert not [name for name in names if name.isdigit() or name in ("self", "thread-self", "mounts", "net")]
    without_job = places(proc.hide(None, gpu=gpu))
    assert {without_job[f"/proc/{name}"] for name in proc.COPIED} == {"/dev/null"}, "there are no copies"


def test_files_in_a_hidden_directory_are_shown_before_it_is_closed(tmp_path: Path) -> None:
    shown = "/proc/sys/vm/mmap_min_addr"
    options = proc.hide(tmp_path, [shown, "/sys/elsewhere"], gpu=True)
    begin = options.index("/proc/sys") - 1
    assert options[begin : begin + 9] == [
        "--tmpfs", "/proc/sys", "--dir", "/proc/sys/vm", "--ro-bind", shown, shown, "--remount-ro", "/proc/sys",
    ]  # fmt: skip
    assert "/sys/elsewhere" not in options


def test_copies_say_what_there_is_and_nothing_of_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = "nvidia_uvm 1536000 4 - Live 0xffffffffc1\next4 9 1 - Live 0x2\nnvidia 7 54 nvidia_uvm, Live 0x3 (OE)\n"
    monkeypatch.setattr(proc, "_read_modules", lambda: modules)
    memory, processors, started = psutil.virtual_memory().total, psutil.cpu_count(), psutil.boot_time()
    proc.write_copies(tmp_path)
    copy = (tmp_path / "proc" / "modules").read_text()
    assert copy == "".join(f"{name} 0 0 - Live 0x0000000000000000\n" for name in ("nvidia_uvm", "nvidia"))
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path / "proc"))
    found = psutil.virtual_memory()
    assert (found.total, found.available, found.used, found.cached) == (memory, memory, 0, 0)
    assert psutil.cpu_count() == processors
    assert abs(psutil.boot_time() - started) <= 1, "it is counted back from now"
    assert sum(psutil.cpu_times()) == 0


LIMITS = Limits(processes=77, open_files=99, file_bytes=12345678)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    usable(Fresh())
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    with Staging() as staging:
        empty = staging.stage("empty", lambda directory: None)
        yield Job(staging.worker(), empty, empty, empty)


def test_a_sandbox_that_is_held_open(job: Job) -> None:
    """Its processes are limited like the worker, closed to processes of their user, and open to the harness."""
    placeholder = Placeholder(Launch(job, LIMITS, slot=5, control=0, output=2), groups=None)
    try:
        entries = placeholder.processes.entries()
        assert entries
        for entry in entries:
            limits = dict(re.findall(r"^Max (.+?) {2,}(\d+) ", Path(entry, "limits").read_text(), re.MULTILINE))
            found = {name: int(limits[name]) for name in ("processes", "open files", "file size", "core file size")}
            assert found == {"processes": 77, "open files": 99, "file size": 12345678, "core file size": 0}
        (cat,) = [Path(entry) for entry in entries if Path(entry, "comm").read_text() == "cat\n"]
        users = re.search(r"^Uid:\s+(\d+)", (cat / "status").read_text(), re.MULTILINE)
        assert users is not None
        assert int(users[1]) != 0
        assert (cat / "mem").stat().st_uid == 0, "so that the process' own user cannot open it"
        root, held = placeholder.processes.root(), placeholder.storage()
        assert root is not None
        assert {path.name for path in Path(root, "job").iterdir()} == {"trusted", "submission", "model", "data"}
        assert held is not None
        assert held.scratch_bytes == 0
        assert 2 <= held.scratch_files < 10, "the two directories, and mount points of an environment below /tmp"
    finally:
        placeholder.kill()
        while not placeholder.is_gone():
            pass
        placeholder.close()


def test_a_sandbox_that_cannot_be_made_says_why(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    gone = Job(job.worker, job.submission, job.model, Path("/nowhere/at/all"))
    with pytest.raises(StartError):
        Placeholder(Launch(gone, LIMITS, slot=6, control=0, output=2), groups=None)
    assert "Can't find source path /nowhere/at/all" in capfd.readouterr().err
