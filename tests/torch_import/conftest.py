"""Small networks, exported once per test process for all tests of this directory."""

import sys
from pathlib import Path

import pytest

from harness.worker.runtimes import RUNTIMES

sys.path.insert(0, str(Path(__file__).parent))  # for `in_torch`


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> None:
    """Skip tests without PyTorch; use the cached shapes."""
    if RUNTIMES["torch"].missing():
        pytest.skip("PyTorch is not installed")
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))


@pytest.fixture(scope="session")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that `exported_networks.py` has written."""
    from in_torch import run_in_torch

    folder = tmp_path_factory.mktemp("networks")
    run_in_torch("exported_networks.py", folder)
    return folder
