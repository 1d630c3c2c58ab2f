from pathlib import Path

import pytest
from in_process import Pgdl, in_process


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> Path:
    """The current directory."""
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pgdl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pgdl:
    """Run `pgdl ARGUMENTS`."""
    return in_process(monkeypatch, capsys)
