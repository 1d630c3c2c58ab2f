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


def tarred(directory: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    file = directory / "archive.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    make_task(tmp_path / "made", layout="full")
    file = tmp_path / "tasks.tar.xz"
    with tarfile.open(file, "w:xz") as members:
        for path in sorted((tmp_path / "made").iterdir()):
            members.add(path, path.name)
    return file


def test_tasks_from_a_server_are_there_and_are_not_fetched_again(archive, tmp_path):
    url, target = archive.as_uri(), tmp_path / "deep" / "tasks"
    target.mkdir(parents=True)  # an empty directory is no obstacle
    (target.parent / ".tasks.fetching" / "files" / "tasks").mkdir(parents=True)  # of a killed command
    assert fetch_tasks(url, digest(archive), target)
    assert [task.name for task in TaskDirectory(target).runnable()] == ["tiny"]
    sha256 = digest(archive)
    archive.unlink()
    assert not fetch_tasks(url, sha256, target)
    assert list(target.parent.iterdir()) == [target]


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


@pytest.mark.parametrize("mode", [None, 0o777], ids=["link", "directory"])
def test_what_others_may_change_is_no_private_place(mode, archive, tmp_path):
    """In a directory like /tmp, another user may put something at the place of the private directory."""
    theirs = tmp_path / "theirs" / "files"
    theirs.mkdir(parents=True)
    place = tmp_path / ".tasks.fetching"
    if mode is None:
        place.symlink_to(theirs.parent)
    else:
        place.mkdir()
        place.chmod(mode)
    with pytest.raises(UserError, match="fetching: others may change what is here; remove it"):
        fetch_tasks(archive.as_uri(), digest(archive), tmp_path / "tasks")
    assert theirs.is_dir()
    assert not (tmp_path / "tasks").exists()


def test_quiet(archive, tmp_path, pgdl):
    arguments = ("task", "fetch", archive.as_uri(), "--sha256", digest(archive), "--tasks", tmp_path / "tasks")
    for _ in ("fetched", "is there already"):
        assert pgdl(*arguments, "--quiet") == (0, "", "")
    assert pgdl(*arguments) == (0, "", f"{tmp_path / 'tasks'}: is there already\n")


def test_another_digest_is_refused_before_anything_is_unpacked(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_unpack", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(UserError, match=r"another archive than the expected one: expected 0{64}, found [0-9a-f]{64}"):
        fetch_tasks(archive.as_uri(), "0" * 64, tmp_path / "new" / "tasks")
    assert {path.name for path in tmp_path.iterdir()} == {"made", archive.name}


def test_a_directory_of_another_origin_stays_as_it_is(archive, tmp_path):
    make_task(tmp_path / "mine")
    with pytest.raises(UserError, match="exists already: found other files"):
        fetch_tasks(archive.as_uri(), digest(archive), tmp_path / "mine")
    fetch_tasks(archive.as_uri(), digest(archive), tmp_path / "tasks")
    with pytest.raises(UserError, match="found tasks of another archive"):
        fetch_tasks(archive.as_uri(), "0" * 64, tmp_path / "tasks")


@pytest.mark.parametrize(
    ("member", "problem"),
    [
        (tarfile.TarInfo("/etc/evil"), "/etc/evil: expected a path inside the archive"),
        (tarfile.TarInfo("a/../../evil"), "a/../../evil: expected a path inside the archive"),
        (tarfile.TarInfo("a\nb"), "a?b: expected a path inside the archive"),
        (special("a", tarfile.SYMTYPE, "/etc"), "a: expected a regular file"),
        (special("a", tarfile.LNKTYPE, "b"), "a: expected a regular file"),
        (special("a", tarfile.FIFOTYPE), "a: expected a regular file"),
        (special("a", tarfile.CHRTYPE), "a: expected a regular file"),
        (tarfile.TarInfo("b"), "two files of one name: b"),
        (tarfile.TarInfo("b/c"), "two files of one name: b"),
    ],
)
def test_what_leads_outside_is_refused(member, problem, tmp_path):
    file = tarred(tmp_path, (tarfile.TarInfo("b"), b"first"), (member, b""))
    with pytest.raises(UserError) as refused:
        fetch_tasks(file.as_uri(), digest(file), tmp_path / "tasks")
    assert str(refused.value) == f"{file.as_uri()}: cannot be unpacked: {problem}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive.tar.gz"]


def headers(name: str, kind: bytes, number: int, content: bytes = b"") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, len(content)
    return (member.tobuf(tarfile.GNU_FORMAT) + content) * number


def holes(number: int) -> bytes:
    """Return a sparse tar member with `number` lists of holes, each of which announces a further list."""
    header = bytearray(headers("weights", tarfile.GNUTYPE_SPARSE, 1))
    header[482] = 1
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + (b"00000000000\0" * 42 + b"\1" + b"\0" * 7) * number


@pytest.mark.rest
@pytest.mark.parametrize(
    "content",
    [
        headers("././@LongLink", tarfile.GNUTYPE_LONGNAME, 1, bytes(20 * 1024**2)),
        headers("header", tarfile.XHDTYPE, 1, bytes(20 * 1024**2)),
        headers("folder", tarfile.DIRTYPE, 2000),
        holes(40 * 1024),
    ],
    ids=["a long name", "a long header", "folders", "holes"],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["tar", "gzip", "xz"])
def test_a_small_archive_of_headers_takes_no_memory(content, pack, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_FILES", 1000)
    file = tmp_path / "archive"
    file.write_bytes(pack(content + bytes(1024)))
    with pytest.raises(UserError, match=r"headers are too large|at most 1000 files and folders, found more"):
        fetch_tasks(file.as_uri(), digest(file), tmp_path / "tasks")


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_a_tar_may_be_packed_in_any_way(packing, tmp_path):
    file = tmp_path / "archive"
    with tarfile.open(file, f"w:{packing}", format=tarfile.PAX_FORMAT) as archive:
        for number in range(100):
            member = tarfile.TarInfo(f"{'long ü' * 30}/{number}")
            member.size = 100_000
            archive.addfile(member, io.BytesIO(bytes(100_000)))
    assert fetch_tasks(file.as_uri(), digest(file), tmp_path / "tasks")
    assert len(list((tmp_path / "tasks").rglob("*"))) == 102
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match="cannot be unpacked: expected a readable tar or zip"):
        fetch_tasks(file.as_uri(), digest(file), tmp_path / "others")


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


def tar_of_zeros(packing: str) -> Callable[[Path], object]:
    def write(file: Path) -> None:
        member = tarfile.TarInfo("zeros")
        member.size = 70 * 1024**2
        with tarfile.open(file, f"w:{packing}") as members:
            members.addfile(member, io.BytesIO(bytes(member.size)))

    return write


TOO_MUCH, UNREADABLE = "members together: expected at most 100 times", "expected a readable tar or zip"


@pytest.mark.rest
@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (lambda file: overlapping(file, 120), TOO_MUCH),
        (tar_of_zeros("gz"), TOO_MUCH),
        (tar_of_zeros("xz"), TOO_MUCH),
        (zipped(zipfile.ZIP_LZMA), "member x: expected a stored or deflated file"),
        (zipped(zipfile.ZIP_BZIP2), "member x: expected a stored or deflated file"),
        (zipped(mode=stat.S_IFLNK | 0o777), "x: expected a regular file"),
        (written(b""), UNREADABLE),
        (written(b"no archive"), UNREADABLE),
        (written(b"PK\3\4 neither"), UNREADABLE),
        (written(b"\x1f\x8b broken"), UNREADABLE),
    ],
)
def test_bombs_links_and_what_is_no_archive_are_refused(write, problem, tmp_path):
    write(tmp_path / "archive")
    with pytest.raises(UserError, match=f"archive: cannot be unpacked: {problem}"):
        fetch_tasks((tmp_path / "archive").as_uri(), digest(tmp_path / "archive"), tmp_path / "tasks")
    assert not (tmp_path / "tasks").exists()


@pytest.mark.parametrize("limit", ["MAX_BYTES", "MAX_FILES", "MAX_ARCHIVE"])
def test_sizes_are_bounded_by_what_comes_out(limit, tmp_path, monkeypatch):
    file = tarred(tmp_path, *((tarfile.TarInfo(name), b"0" * 4_000_000) for name in "abc"))
    monkeypatch.setattr(fetching, limit, {"MAX_BYTES": 10_000_000, "MAX_FILES": 2, "MAX_ARCHIVE": 1000}[limit])
    with pytest.raises(
        UserError, match=r"cannot be unpacked: expected at most .* found more|too large: expected at most"
    ):
        fetch_tasks(file.as_uri(), digest(file), tmp_path / "tasks")
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
