import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `plain_keras` and `keras_files`


@pytest.fixture(autouse=True)
def _cache(monkeypatch, shared_cache) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Eight models, their table and data in the current directory: the table's rows, and accuracies on both sets."""
    from keras_files import write_models

    monkeypatch.chdir(tmp_path)
    return write_models(tmp_path)


@pytest.fixture
def folder(tmp_path, made) -> Path:
    return tmp_path


@pytest.fixture
def refused(folder, pgdl) -> Callable[..., str]:
    """Return a function that imports the models, asserts that this fails without leftovers, and returns the error."""

    def check(*more: object, data: str = "data.npz") -> str:
        ended = pgdl("task", "import", "models.csv", "--data", data, "--test", data, "--output", "tasks", *more)
        assert ended.code == 2, ended  # notes on the table may be in `out`
        assert len(ended.err.splitlines()) == 1
        assert ended.err.startswith("pgdl: ")
        assert not (folder / "tasks").exists()
        return ended.err

    return check
