import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `plain_keras` and `keras_files`


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture(autouse=True)
def _cache(monkeypatch, shared_cache) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A directory of eight models, their table and their data; the current one."""
    from keras_files import write_models

    write_models(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pgdl(monkeypatch, capsys) -> Callable[..., Outcome]:
    """Run the command line in this process, as a user would."""
    from harness.cli.main import main

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["pgdl", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Outcome(ended.value.code, printed.out, printed.err)

    return run


@pytest.fixture
def refused(folder, pgdl) -> Callable[..., str]:
    """Import the models, which must fail with one line and leave nothing; returns the line."""

    def check(*more: object, data: str = "data.npz") -> str:
        outcome = pgdl("task", "import", "models.csv", "--data", data, "--test", data, "--out", "tasks", *more)
        assert outcome.code == 2, outcome
        assert outcome.err.startswith("pgdl: ")
        assert outcome.err.count("\n") == 1
        assert not (folder / "tasks").exists() or not list((folder / "tasks").iterdir())
        return outcome.err

    return check
