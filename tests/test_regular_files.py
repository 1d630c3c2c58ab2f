"""Tests of the reader of strangers' files: it refuses pipes, devices, links and large files in one line."""

import os
import socket
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.reading import open_regular, read_regular


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_regular(tmp_path / "file", 5, links=False) == b"12345"
    with pytest.raises(UserError, match=r"file: too large: expected at most 4 bytes, found 5 bytes$"):
        read_regular(tmp_path / "file", 4, links=False)
    os.truncate(tmp_path / "file", 200 * 10**9)  # without content
    with pytest.raises(UserError, match="too large"):
        read_regular(tmp_path / "file", 10**6, links=False)
    with pytest.raises(UserError, match=r"nothing: cannot be read: found No such file or directory$"):
        read_regular(tmp_path / "nothing", 1, links=False)


def test_what_is_not_a_regular_file_is_refused_also_where_links_are_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the paths of sockets are short
    Path("there").write_bytes(b"1")
    Path("link").symlink_to("there")
    Path("zero").symlink_to("/dev/zero")
    Path("folder").mkdir()
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    link = "a symbolic link; name the file itself"
    kinds = {"pipe": "a pipe", "folder": "a directory", "socket": "a socket", "zero": link, "link": link}
    for name, found in kinds.items():
        with pytest.raises(UserError, match=rf"^{name}: cannot be read: expected a regular file, found {found}$"):
            read_regular(Path(name), 10, links=False)
    assert read_regular(Path("link"), 1, links=True) == b"1"
    with pytest.raises(UserError, match="expected a regular file, found a device"):
        read_regular(Path("zero"), 1, links=True)


def test_a_file_that_is_replaced_while_it_is_opened_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    opened = os.open

    def replaced(path: Path, flags: int) -> int:
        path.unlink()
        os.mkfifo(path)
        return opened(path, flags)

    monkeypatch.setattr(os, "open", replaced)
    with pytest.raises(UserError, match="expected a regular file, found a pipe"):
        open_regular(tmp_path / "file", links=False)
