"""Tests of tasks from an archive with a known digest: nothing else is unpacked, and nothing leaves the directory."""

import errno
import gzip
import io
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.credentials import Address
from harness.digest import digest_of_file as digest
from harness.errors import UserError
from harness.fetch import archive as fetching
from harness.fetch import session
from harness.task.layout import TaskDirectory
from tests.fetch.servers import serve
from tests.throwaway import make_task
from tests.zip_bombs import overlapping


def fetch_tasks(url: str, sha256: str, directory: Path) -> bool:
    return fetching.fetch_tasks(Address(url, "URL"), sha256, directory)


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, target
    return found


def tarred(*members: tuple[tarfile.TarInfo, bytes], packing: str = "gz") -> Callable[[Path], object]:
    """Return a function that writes a tar of members."""

    def write(file: Path) -> None:
        with tarfile.open(file, f"w:{packing}", format=tarfile.PAX_FORMAT) as archive:
            for one, content in members:
                one.size = len(content)
                archive.addfile(one, io.BytesIO(content))

    return write


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    make_task(tmp_path / "made", layout="full")
    file = tmp_path / "tasks.tar.xz"
    with tarfile.open(file, "w:xz") as members:
        for path in sorted((tmp_path / "made").iterdir()):
            members.add(path, path.name)
    return file


def test_tasks_are_there_and_are_not_fetched_again(archive, tmp_path):
    url, target = archive.as_uri(), tmp_path / "deep" / "tasks"
    target.mkdir(parents=True)  # an empty directory is no obstacle
    (target.parent / ".tasks.fetching" / "files" / "tasks").mkdir(parents=True)  # of a killed command
    assert fetch_tasks(url, digest(archive), target)
    assert [task.name for task in TaskDirectory(target).runnable()] == ["tiny"]
    sha256 = digest(archive)
    archive.unlink()
    assert not fetch_tasks(url, sha256, target)
    assert list(target.parent.iterdir()) == [target]
    with pytest.raises(UserError, match="found tasks of another archive"):
        fetch_tasks(url, "0" * 64, target)


@pytest.mark.parametrize("target", [".", "link"])
def test_an_empty_directory_that_cannot_be_replaced_is_filled(target, archive, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here/link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "here" if target == "link" else tmp_path / "elsewhere")
    assert fetch_tasks(archive.as_uri(), digest(archive), Path(target))
    assert [task.name for task in TaskDirectory(tmp_path / "elsewhere").runnable()] == ["tiny"]
    assert not fetch_tasks(archive.as_uri(), digest(archive), Path(target))


def test_a_disk_that_fills_up_leaves_no_part_of_the_tasks(archive, tmp_path, monkeypatch):
    def fail(one: Path, directory: Path) -> None:
        one.rename(directory / one.name)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(one))

    (tmp_path / "tasks").mkdir()
    monkeypatch.setattr(shutil, "move", fail)
    with pytest.raises(UserError, match="No space left on device"):
        fetch_tasks(archive.as_uri(), digest(archive), tmp_path / "tasks")
    monkeypatch.undo()
    assert fetch_tasks(archive.as_uri(), digest(archive), tmp_path / "tasks")


@pytest.mark.parametrize("is_link", [True, False])
def test_what_others_may_change_is_no_private_place(is_link, archive, tmp_path):
    """In a directory like /tmp, another user may put something at the place of the private directory."""
    theirs, place = tmp_path / "theirs" / "files", tmp_path / ".tasks.fetching"
    theirs.mkdir(parents=True)
    if is_link:
        place.symlink_to(theirs.parent)
    else:
        place.mkdir()
        place.chmod(0o777)
    with pytest.raises(UserError, match="fetching: others may change what is here; remove it"):
        fetch_tasks(archive.as_uri(), digest(archive), tmp_path / "tasks")
    assert theirs.is_dir()
    assert not (tmp_path / "tasks").exists()


def test_quiet(archive, tmp_path, pgdl):
    arguments = ("task", "fetch", archive.as_uri(), "--sha256", digest(archive), "--tasks", tmp_path / "tasks")
    for _ in ("fetched", "is there already"):
        assert pgdl(*arguments, "--quiet") == (0, "", "")
    assert pgdl(*arguments) == (0, "", f"{tmp_path / 'tasks'}: is there already\n")


def test_another_digest_and_a_directory_of_another_origin_are_refused(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_unpack", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(UserError, match=r"another archive than the expected one: expected 0{64}, found [0-9a-f]{64}"):
        fetch_tasks(archive.as_uri(), "0" * 64, tmp_path / "new" / "tasks")
    with pytest.raises(UserError, match="exists already: found other files"):
        fetch_tasks(archive.as_uri(), digest(archive), tmp_path / "made")
    assert {path.name for path in tmp_path.iterdir()} == {"made", archive.name}


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_a_tar_may_be_packed_in_any_way(packing, tmp_path):
    file = tmp_path / "archive"
    tarred(*((member(f"{'long ü' * 30}/{number}"), bytes(100_000)) for number in range(100)), packing=packing)(file)
    assert fetch_tasks(file.as_uri(), digest(file), tmp_path / "tasks")
    assert len(list((tmp_path / "tasks").rglob("*"))) == 102
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match="cannot be unpacked: expected a readable tar or zip"):
        fetch_tasks(file.as_uri(), digest(file), tmp_path / "others")


def headers(name: str, kind: bytes, number: int, content: bytes = b"") -> bytes:
    one = member(name, kind)
    one.size = len(content)
    return (one.tobuf(tarfile.GNU_FORMAT) + content) * number


def holes(number: int) -> bytes:
    """Return a sparse tar member with `number` lists of holes, each of which announces a further list."""
    header = bytearray(headers("weights", tarfile.GNUTYPE_SPARSE, 1))
    header[482] = 1
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + (b"00000000000\0" * 42 + b"\1" + b"\0" * 7) * number


def written(content: bytes) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(content)


def zipped(method: int = zipfile.ZIP_DEFLATED, mode: int = 0) -> Callable[[Path], object]:
    """Return a function that writes a zip of one member."""

    def write(file: Path) -> None:
        entry = zipfile.ZipInfo("x")
        entry.compress_type, entry.external_attr = method, mode << 16
        with zipfile.ZipFile(file, "w") as members:
            members.writestr(entry, bytes(1000))

    return write


#: Contents of tars whose headers alone are too large, or too many.
HEADERS = {
    "a long name": lambda: headers("././@LongLink", tarfile.GNUTYPE_LONGNAME, 1, bytes(20 * 1024**2)),
    "a long header": lambda: headers("header", tarfile.XHDTYPE, 1, bytes(20 * 1024**2)),
    "folders": lambda: headers("folder", tarfile.DIRTYPE, 2000),
    "holes": lambda: holes(40 * 1024),
}


def refuse(file: Path, problem: str) -> None:
    with pytest.raises(UserError, match=f"archive: cannot be unpacked: .*({problem})"):
        fetch_tasks(file.as_uri(), digest(file), file.parent / "tasks")
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.rest
@pytest.mark.parametrize("content", HEADERS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["tar", "gzip", "xz"])
def test_a_small_archive_of_headers_takes_no_memory(content, pack, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_FILES", 1000)
    (tmp_path / "archive").write_bytes(pack(HEADERS[content]() + bytes(1024)))
    refuse(tmp_path / "archive", "headers are too large|at most 1000 files and folders, found more")


@pytest.mark.parametrize(
    ("one", "problem"),
    [
        (member("/etc/evil"), "/etc/evil: expected a path inside the archive"),
        (member("a/../../evil"), r"a/\.\./\.\./evil: expected a path inside the archive"),
        (member("a\nb"), r"a\?b: expected a path inside the archive"),
        (member("a", tarfile.SYMTYPE, "/etc"), "a: expected a regular file$"),
        (member("a", tarfile.LNKTYPE, "b"), "a: expected a regular file$"),
        *((member("a", kind), "a: expected a regular file$") for kind in (tarfile.FIFOTYPE, tarfile.CHRTYPE)),
        *((member(name), "two files of one name: b$") for name in ("b", "b/c")),
    ],
)
def test_what_leads_outside_is_refused(one, problem, tmp_path):
    tarred((member("b"), b"first"), (one, b""))(tmp_path / "archive")
    refuse(tmp_path / "archive", problem)


def tar_of_zeros(packing: str) -> Callable[[Path], object]:
    return lambda file: tarred((member("zeros"), bytes(70 * 1024**2)), packing=packing)(file)


TOO_MUCH, UNREADABLE = "members together: expected at most 100 times", "expected a readable tar or zip"
METHODS = (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2)


@pytest.mark.rest
@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (lambda file: overlapping(file, 120), TOO_MUCH),
        *((tar_of_zeros(packing), TOO_MUCH) for packing in ("gz", "xz")),
        *((zipped(method), "member x: expected a stored or deflated file") for method in METHODS),
        (zipped(mode=stat.S_IFLNK | 0o777), "x: expected a regular file"),
        *((written(content), UNREADABLE) for content in (b"", b"no archive", b"PK\3\4 neither", b"\x1f\x8b broken")),
    ],
)
def test_bombs_links_and_what_is_no_archive_are_refused(write, problem, tmp_path):
    write(tmp_path / "archive")
    refuse(tmp_path / "archive", problem)


def test_sizes_are_bounded_by_what_comes_out(tmp_path, monkeypatch):
    file = tmp_path / "archive"
    tarred(*((member(name), b"0" * 400_000) for name in "abc"))(file)
    problem = r"cannot be unpacked: expected at most .* found more|too large: expected at most"
    for limit, value in {"MAX_BYTES": 1_000_000, "MAX_FILES": 2, "MAX_ARCHIVE": 100}.items():
        monkeypatch.setattr(fetching, limit, value)
        with pytest.raises(UserError, match=problem):
            fetch_tasks(file.as_uri(), digest(file), tmp_path / "tasks")
        monkeypatch.undo()
        assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://example.org/x", "expected https, http, file, found ftp"),
        ("tasks.tar", "not an address to download from"),
        ("file:///nowhere/at/all", "cannot be read"),
        ("http://127.0.0.1:1/x", "127.0.0.1 cannot be reached"),
        ("https://[x/", "URL: not an address, or one with several meanings"),
    ],
)
def test_addresses_that_cannot_be_read_are_one_line(url, problem, tmp_path):
    with pytest.raises(UserError) as refused:
        fetch_tasks(url, "0" * 64, tmp_path / "tasks")
    assert problem in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_the_digest_is_required_and_well_formed(tmp_path, pgdl):
    with pytest.raises(UserError, match="--sha256: expected 64 hexadecimal digits in lower case, found 'abc'"):
        fetch_tasks("https://example.org", "abc", tmp_path / "tasks")
    err = pgdl("task", "fetch", "https://example.org/x.zip", "--tasks", tmp_path / "tasks").refusal()
    assert err.startswith("pgdl: https://example.org/x.zip: --sha256 is missing: expected the digest")


def test_a_download_that_is_cut_off_is_no_other_archive(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "PAUSES_S", (0,))
    with serve(tmp_path) as served:
        served.cut_every = 100
        with pytest.raises(UserError, match=r"cut off after 100 bytes, \d+ missing; the same command"):
            fetch_tasks(f"{served.url}/tasks.tar.xz", digest(archive), tmp_path / "tasks")
        served.cut_every, served.statuses = None, [503]
        assert fetch_tasks(f"{served.url}/tasks.tar.xz", digest(archive), tmp_path / "tasks")
