from collections.abc import Callable
from pathlib import Path

import pytest
from throwaway import make_task


@pytest.fixture(autouse=True)
def _cache(monkeypatch, shared_cache) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(shared_cache))
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def task(tmp_path) -> Path:
    return make_task(tmp_path)


@pytest.fixture
def refused(pgdl) -> Callable[[Path, str, str], None]:
    """Return a function that validates a broken task, and asserts a single error line with file and message."""

    def check(task: Path, file: str, message: str) -> None:
        outcome = pgdl("task", "validate", task)
        *problems, verdict = outcome.lines
        assert outcome.code == 2
        assert verdict == f"{task.name}: 1 problem: invalid"
        assert len(problems) == 1
        assert problems[0].startswith(f"{task / file}: ")
        assert message in problems[0]

    return check
