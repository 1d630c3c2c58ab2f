import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # for `throwaway`


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
    monkeypatch.setenv("COLUMNS", "120")


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
def refused(pgdl) -> Callable[[Path, str, str], None]:
    """Validate a task with one broken file: one line names the file, what was expected and what was found."""

    def check(task: Path, file: str, message: str) -> None:
        outcome = pgdl("task", "validate", task)
        *problems, verdict = outcome.lines
        assert outcome.code == 2
        assert verdict == f"{task.name}: 1 problem: invalid"
        assert len(problems) == 1
        assert problems[0].startswith(f"{task / file}: ")
        assert message in problems[0]

    return check
