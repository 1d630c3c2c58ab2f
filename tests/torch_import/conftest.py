"""Small networks, exported once per test process for all tests of this directory."""

from pathlib import Path

import pytest
from runtimes.each_runtime import run_python

from harness.worker.runtimes import RUNTIMES


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> None:
    """Skip tests without PyTorch; use the cached shapes."""
    if RUNTIMES["torch"].missing():
        pytest.skip("PyTorch is not installed")
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))


@pytest.fixture(scope="session")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that `exported_networks.py` has written."""
    folder = tmp_path_factory.mktemp("networks")
    run_python("torch", Path(__file__).with_name("exported_networks.py"), folder)
    return folder
