"""Tests of all files that strangers may write: only regular files are opened, and no message quotes another file."""

import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doors import DOORS, Door, Reader
from in_process import in_process
from little_memory import little_memory

from harness.errors import UserError
from harness.fetch import session

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="others lack such files, or a bound of memory")

SECRET = "0123456789-A-SECRET"

ALL = {f"{row}: {name}": door for row, doors in DOORS.items() for name, door in doors.items()}


def _socket(path: Path) -> None:
    os.chdir(path.parent)  # the paths of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)


def _secret(path: Path) -> None:
    (path.parent / "of_the_user").write_text(f"{SECRET}\n")
    (path.parent / "of_the_user").chmod(0o600)
    path.symlink_to("of_the_user")


def _empty(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(200 * 10**9)


#: Name -> function that creates something other than a plain file at a path.
OTHERS: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a socket": _socket,
    "200 GB without content": _empty,
    "a directory": Path.mkdir,
    "a link to a secret": _secret,  # the last one: the secret stays
}


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> None:
    """Copy the cached shapes of the throw-away models, since computing them with Keras takes seconds."""
    shutil.copytree(shared_cache / "shapes", tmp_path / "cache" / "shapes")
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(session, "PAUSES_S", (0,))  # the secret may be a token: its request fails at once
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[Reader], str]:
    pgdl = in_process(monkeypatch, capsys)

    def run(reader: Reader) -> str:
        if callable(reader):
            with pytest.raises(UserError) as error:
                reader()
            return str(error.value)
        ended = pgdl(*reader)
        assert ended.code in (1, 2), ended
        return ended.out + ended.err

    return run


@pytest.mark.rest
@pytest.mark.parametrize("door", ALL.values(), ids=ALL)
def test_what_is_no_file_is_refused(door: Door, tmp_path: Path, read: Callable[[Reader], str]) -> None:
    (tmp_path / "folder").mkdir()
    path, reader = door(tmp_path / "folder")
    for other, make in OTHERS.items():
        path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        make(path)
        with little_memory():
            said = read(reader)
        assert said.strip(), other
        assert all(SECRET[start : start + 5] not in said for start in range(len(SECRET) - 4)), other
        assert all(line.isprintable() for line in said.splitlines()), other


#: Doors where SQLite or another process opens the file; the tests of that process replace the file.
ELSEWHERE = [name for name in ALL if name.startswith(("submission: ", "results database"))]


@pytest.mark.rest
@pytest.mark.parametrize("door", [door for name, door in ALL.items() if name not in ELSEWHERE],
                         ids=[name for name in ALL if name not in ELSEWHERE])  # fmt: skip
def test_a_file_that_is_replaced_while_it_is_opened_is_refused(
    door: Door, tmp_path: Path, read: Callable[[Reader], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    path, reader = door(tmp_path / "folder")
    path.touch()
    opened, replaced = os.open, []

    def replace(file: Any, *arguments: Any, **options: Any) -> int:
        if file == path and not replaced:
            replaced.append(file)
            path.unlink()
            os.mkfifo(path)
        return opened(file, *arguments, **options)

    monkeypatch.setattr(os, "open", replace)
    said = read(reader)
    assert replaced
    assert "found a pipe" in said or "build RECIPE --output" in said  # the command without the file's content


def test_every_door_is_in_the_table() -> None:
    text = Path(__file__).parents[1].joinpath("docs/security.md").read_text()
    section = text.partition("\n## Files of strangers\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line.startswith("| ")]
    assert rows[1:] == list(DOORS)
