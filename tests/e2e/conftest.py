"""Runs the real command line on throw-away competitions."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.sandbox.probe import sandbox_problem
from tests.throwaway import make_task

PGDL = (sys.executable, "-m", "harness.cli")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The user's environment, with a cache of the tests' own and a secret that must not leak."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PGDL_")}
    return variables | {
        "PGDL_CACHE": str(tmp_path_factory.mktemp("cache")),
        "SECRET_TOKEN": "hunter2",
        "COLUMNS": "200",
    }


@pytest.fixture(scope="session")
def pgdl(environment: dict[str, str]) -> Run:
    """Run `pgdl ARGUMENTS` to its end."""

    def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [*PGDL, *map(str, arguments)]
        return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=240)

    return run


@pytest.fixture
def start(environment: dict[str, str]) -> Any:
    """Start `pgdl ARGUMENTS` in the background; what is left of it is killed at the end of the test."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: object) -> subprocess.Popen[str]:
        command = [*PGDL, *map(str, arguments)]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.fixture(scope="session")
def sandbox() -> None:
    """Skip where no sandbox can be made."""
    problem = sandbox_problem()
    if problem is not None:
        pytest.skip(f"no sandbox here: {problem}")


@pytest.fixture(scope="session")
def competition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with one task of eight models."""
    directory = tmp_path_factory.mktemp("competition")
    make_task(directory, layout="full")
    return directory


@pytest.fixture(scope="session")
def one_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a hidden task of a single model."""
    directory = tmp_path_factory.mktemp("single")
    task = make_task(directory, name="single", reference=False)
    for number in range(1, 8):
        for file in (task / f"model_{number}").iterdir():
            file.unlink()
        (task / f"model_{number}").rmdir()
    return directory


def write_submission(directory: Path, name: str, body: str) -> Path:
    """Write NAME.py whose `complexity` has the given body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    path = directory / f"{name}.py"
    path.write_text(f"def complexity(model, dataset):\n{lines}\n")
    return path


def records(database: Path) -> list[dict[str, Any]]:
    """All rows of the results, oldest first."""
    if not database.exists():
        return []
    with sqlite3.connect(database, timeout=30) as connection:
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute("select * from evaluations order by id")]
        except sqlite3.OperationalError:  # the table is not there yet
            return []


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 90) -> None:
    """Wait until `condition` holds; fail with `what` if it does not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.05)


def descendants(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """All processes below a harness."""
    return psutil.Process(process.pid).children(recursive=True)


def alive(processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    """Those that still run."""
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
