"""Tests of the scratch directory of the Landlock sandbox: its visibility, and its removal with any content."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.sandbox.processes import Tree
from harness.sandbox.scratch import make_scratch, measure_directory, nameless_bytes
from harness.worker.scratch import remove

MOST = 100

HOLDER = """
import ctypes, mmap, os, sys, threading
def hold():
    if sys.argv[2] == "of a thread":
        ctypes.CDLL(None).unshare(0x400)  # descriptors of its own (CLONE_FILES)
    file = open(sys.argv[1], "w+b", buffering=0)
    file.write(b"x" * 100_000)
    os.unlink(sys.argv[1])
    if sys.argv[2] == "mapped":
        ctypes.CDLL(None).mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), ctypes.c_long(0))
        file.close()
    print(flush=True)
    sys.stdin.read()
thread = threading.Thread(target=hold)
thread.start()
thread.join()
"""

LOST = 5_000_000  #: what the disk is said to have lost


def deep(directory: Path, levels: int) -> None:
    """Nest directories so deep that their path is too long for the system."""
    before = Path.cwd()
    os.chdir(directory)
    try:
        for _ in range(levels):
            os.mkdir("d" * 200)  # noqa: PTH102
            os.chdir("d" * 200)
        Path("file").write_text("x")
    finally:
        os.chdir(before)


def test_bytes_and_files_are_counted_up_to_a_limit_and_a_hole_takes_no_room(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("/")
    size, files = measure_directory(str(tmp_path), MOST)
    assert files == 4
    assert 100_000 <= size < 200_000
    for number in range(2 * MOST):
        (tmp_path / str(number)).touch()
    assert measure_directory(str(tmp_path), MOST)[1] == MOST + 1
    assert measure_directory(str(tmp_path / "gone"), MOST) == (0, 0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_what_may_not_be_looked_at_is_too_much(tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir(mode=0o300)
    assert measure_directory(str(tmp_path), MOST)[1] == MOST + 1


def test_a_directory_is_removed_however_deep_it_is_although_that_is_too_deep_to_be_looked_at(tmp_path: Path) -> None:
    scratch = make_scratch(tmp_path, None)
    assert (scratch.parent, scratch.stat().st_mode & 0o777) == (tmp_path, 0o700)
    deep(scratch, 2000)
    assert measure_directory(str(tmp_path), MOST)[1] == MOST + 1
    remove(str(scratch))
    assert not scratch.exists()
    remove(str(scratch))


def test_a_directory_is_removed_whatever_its_modes_are(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    scratch = tmp_path / "scratch"
    for name in ("a/b/c", "a/d"):
        (scratch / name).mkdir(parents=True)
        (scratch / name / "file").touch()
    (scratch / "a" / "link").symlink_to(outside)
    os.mkfifo(scratch / "a" / "pipe")
    for name in ("a/b/c", "a/b", "a/d", "a"):
        (scratch / name).chmod(0)
    remove(str(scratch))
    assert not scratch.exists()
    assert (outside / "kept").exists()


@pytest.mark.parametrize(
    ("name", "way", "least", "most"),
    [
        ("file", "open", 100_000, 200_000),
        ("file", "of a thread", 100_000, 200_000),
        ("file", "mapped", LOST, LOST),
        ("two\rlines\udcff", "mapped", LOST, LOST),
    ],
)
def test_removed_files_count_as_long_as_somebody_holds_them(
    tmp_path: Path, name: str, way: str, least: int, most: int
) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / name), way]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert measure_directory(str(tmp_path), MOST) == (0, 0)
        assert least <= nameless_bytes(Tree(holder.pid), str(tmp_path), LOST) <= most
    assert nameless_bytes(Tree(holder.pid), str(tmp_path), LOST) == 0


def test_threads_that_end_hide_no_removed_files_of_others(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / "task" / str(number)).mkdir(parents=True)  # has ended since the threads were listed
    (tmp_path / "task" / "99").symlink_to("/proc/self")
    with tempfile.TemporaryFile(dir=tmp_path) as file:
        file.write(b"x" * 100_000)
        file.flush()
        listed = SimpleNamespace(entries=lambda: [str(tmp_path)])
        assert 100_000 <= nameless_bytes(listed, "/nowhere", LOST) < 200_000  # type: ignore[arg-type]
