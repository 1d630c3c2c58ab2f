"""What tests of downloads share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import Pgdl, in_process

from harness.fetch import ranges, remote
from tests.fetch.servers import Served, serve


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """A server of the directory `served`."""
    (tmp_path / "served").mkdir()
    with serve(tmp_path / "served") as served:
        yield served


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> None:
    """Ask again at once, give up early, and keep nothing of the user's."""
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(ranges, "PAUSES_S", (0, 0, 0))
    monkeypatch.setattr(remote, "TAIL", 2000)


@pytest.fixture
def pgdl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Pgdl:
    """Runs the command line in an empty folder."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    return in_process(monkeypatch, capsys)
