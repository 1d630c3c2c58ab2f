"""Tests of submissions that cannot be run, by mistake or malice: each gets an error, and the run continues."""

import os
import socket
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from submission_files import MEASURE, problem_of, write_folder, write_zip

from harness.inspector.archive import read_zip
from harness.inspector.limits import MAX_BYTES, MAX_FILES
from harness.inspector.main import inspect
from harness.submission import find_submission

pytestmark = pytest.mark.usefixtures("read_here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "margin", {"complexity.py": MEASURE})


@pytest.mark.parametrize("target", ["/etc/passwd", "complexity.py", "/etc", "/nowhere"])
def test_links_are_not_followed(target: str, folder: Path) -> None:
    (folder / "link").symlink_to(target)
    assert problem_of(folder) == "link: expected a regular file, found a link"


def test_pipes_and_sockets_are_neither_read_nor_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "pipe")
    assert problem_of(folder) == "pipe: expected a regular file, found a device, pipe or socket"
    (folder / "pipe").unlink()
    monkeypatch.chdir(folder)  # the address of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("door")
    assert problem_of(folder) == "door: expected a regular file, found a device, pipe or socket"
    for name in ("pipe.py", "pipe.zip"):
        os.mkfifo(folder.parent / name)
        assert "expected a regular file" in problem_of(folder.parent / name)


def test_at_most_so_many_files(folder: Path) -> None:
    write_folder(folder, {f"{i}.txt": b"" for i in range(MAX_FILES - 1)})
    assert find_submission(str(folder)).problem is None
    write_folder(folder, {"one_more.txt": b""})
    archive = write_zip(folder.with_suffix(".zip"), [(f"{i}.txt", b"") for i in range(MAX_FILES + 1)])
    for path in (folder, archive):
        assert problem_of(path) == f"expected at most {MAX_FILES} files, found more"


def test_at_most_so_many_bytes_in_all(folder: Path) -> None:
    half = (MAX_BYTES - len(MEASURE)) // 2
    sizes = {"margin/x.bin": half, "margin/y.bin": half, "single.py": MAX_BYTES + 1}
    for name, size in sizes.items():
        (folder.parent / name).touch()
        os.truncate(folder.parent / name, size)
    assert find_submission(str(folder)).problem is None
    os.truncate(folder / "y.bin", half + 2)
    assert problem_of(folder) == "y.bin: expected at most 50 MiB in all, found more"
    assert problem_of(folder.parent / "single.py") == "single.py: expected at most 50 MiB in all, found more"


def test_a_zip_bomb_is_refused_when_too_much_has_come_out_of_it(tmp_path: Path) -> None:
    bomb = write_zip(tmp_path / "bomb.zip", [("complexity.py", MEASURE), ("zeros", bytes(MAX_BYTES))])
    assert bomb.stat().st_size < MAX_BYTES / 100
    assert problem_of(bomb) == "zeros: expected at most 50 MiB in all, found more"


@pytest.mark.parametrize(("method", "found"), [(zipfile.ZIP_BZIP2, "bzip2"), (zipfile.ZIP_LZMA, "lzma")])
def test_compressions_that_cannot_be_read_piece_by_piece(method: int, found: str, tmp_path: Path) -> None:
    """2.5 kB of bzip2 unpack to gigabytes, all of which must be unpacked to get the first byte."""
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", method) as archive:
        archive.writestr("complexity.py", MEASURE)
    expected = f"complexity.py: expected a member that is stored or deflated, found {found}"
    assert problem_of(tmp_path / "bomb.zip") == expected


def test_at_most_so_many_entries_of_a_zip_or_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("files", "archive"):
        monkeypatch.setattr(f"harness.inspector.{module}.MAX_ENTRIES", 100)
    names = [f"{number}/" for number in range(100)]
    archive = write_zip(folder.parent / "many.zip", [("complexity.py", MEASURE), *((name, b"") for name in names)])
    found = "expected at most 100 files and folders, found"
    assert problem_of(archive) == f"{found} 101"
    content = bytearray(archive.read_bytes())
    struct.pack_into("<HH", content, len(content) - 14, 1, 1)  # as if there were one
    archive.write_bytes(content)
    assert problem_of(archive) == f"{found} more"
    for name in names:
        (folder / name).mkdir()
    assert problem_of(folder) == f"{found} more"


def test_folders_within_folders(folder: Path) -> None:
    folder.joinpath(*["d"] * 300).mkdir(parents=True)
    assert problem_of(folder).startswith("d/d/d/d/d/d/d/d")
    assert problem_of(folder).endswith(": expected a name of at most 255 printable characters")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("complexity.py", "complexity.py"),
        ("complexity.py", "./complexity.py"),
        ("lib/margins.py", "lib//margins.py"),
        ("lib/./margins.py", "lib/margins.py"),
        ("caf\u00e9.py", "cafe\u0301.py"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name(first: str, second: str, tmp_path: Path) -> None:
    """Different programs would read different files from such a zip."""
    members = [(first, MEASURE), (second, b"def complexity(model, dataset):\n    return 2.0\n")]
    assert "expected one file of that name, found two" in problem_of(write_zip(tmp_path / "two.zip", members))


def test_a_zip_bomb_that_declares_a_small_size_is_damaged(tmp_path: Path) -> None:
    bomb = write_zip(tmp_path / "bomb.zip", [("zeros", bytes(10**6))])
    content = bomb.read_bytes()
    assert content.count(struct.pack("<I", 10**6)) == 2  # beside the member and in the list of members
    bomb.write_bytes(content.replace(struct.pack("<I", 10**6), struct.pack("<I", 10)))
    assert problem_of(bomb).startswith("bomb.zip: expected a readable zip: ")


LINK = zipfile.ZipInfo("link")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16
OUTSIDE = ["../escape.py", "a/../../escape.py", "/etc/escape.py", "..", "a/.."]


@pytest.mark.parametrize(
    ("member", "problem"),
    [
        (LINK, "link: expected a regular file, found a link"),
        *((n, f"{n}: expected a path inside the zip") for n in OUTSIDE),
    ],
)
def test_paths_out_of_a_zip(member: str | zipfile.ZipInfo, problem: str, tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "margin.zip", [("complexity.py", MEASURE), (member, b"/etc/passwd")])
    assert problem_of(archive) == problem


@pytest.mark.parametrize("length", [0, 1, 30, 100, -1])
def test_what_is_not_a_whole_zip(length: int, tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "margin.zip", [("complexity.py", MEASURE)])
    archive.write_bytes(archive.read_bytes()[:length])
    assert problem_of(archive) == "margin.zip: expected a readable zip: File is not a zip file"


def test_no_damaged_byte_of_a_zip_ends_the_run(tmp_path: Path) -> None:
    members = [("complexity.py", MEASURE * 3 + bytes(range(60))), ("metadata", b"team: Seven\n")]
    whole = write_zip(tmp_path / "margin.zip", members).read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= (0xFF, 0x80, 0x01)[position % 3]
        (tmp_path / "margin.zip").write_bytes(damaged)
        answer = inspect(read_zip, str(tmp_path / "margin.zip"))  # as in its own process
        assert (answer.problem is None) == ("complexity.py" in answer.files), position
        assert answer.unreadable is None


@pytest.mark.parametrize(
    "names",
    [("lib", "lib/margins.py"), ("lib/margins.py", "lib"), (".",), ("a" * 256,), ("/".join(["a" * 200] * 25),)],
    ids=["a file that is a directory", "a directory that is a file", "the top", "a long name", "a long path"],
)
def test_files_that_no_disk_can_hold(names: tuple[str, ...], tmp_path: Path) -> None:
    """Without the check, staging would fail in the middle of a run."""
    archive = write_zip(tmp_path / "margin.zip", [("complexity.py", MEASURE), *((name, b"") for name in names)])
    assert names[0][:50] in problem_of(archive)


def test_a_problem_is_one_line_that_cannot_steer_the_terminal(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.py")).touch()
    assert problem_of(folder).isprintable()
    for name in ("\x1b[31mred.py", "two\nlines.py", "\u202egnp.py"):
        assert problem_of(write_zip(folder.with_suffix(".zip"), [(name, MEASURE)])).isprintable()
