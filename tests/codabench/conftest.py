"""A bundle of a throw-away competition, made by the command line."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import Pgdl, in_process
from organised import organise


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> Path:
    """The current directory; the throw-away models are known already: asking Keras takes seconds."""
    for name in [name for name in os.environ if name.startswith("PGDL_")]:
        monkeypatch.delenv(name)
    shutil.copytree(shared_cache / "shapes", tmp_path / "cache" / "shapes")
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pgdl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pgdl:
    """Run `pgdl ARGUMENTS`."""
    return in_process(monkeypatch, capsys)


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> Iterator[Path]:
    """The directory of a competition with its bundle.zip."""
    from harness.codabench.bundle import write_bundle

    directory = tmp_path_factory.mktemp("organised")
    shutil.copytree(shared_cache / "shapes", directory / "cache" / "shapes")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PGDL_CACHE", str(directory / "cache"))
        write_bundle(organise(directory), directory / "bundle.zip")
        yield directory
