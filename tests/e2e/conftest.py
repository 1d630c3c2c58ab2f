"""Runs the real command line on throw-away competitions."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from real_runs import PGDL, heed_interrupts, run_here
from shared_zygotes import SharedZygotes
from throwaway import make_task

from harness.sandbox.kinds.fresh import Fresh

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> dict[str, str]:
    """The user's environment, with a cache that has only shapes of models, and a secret that must not leak."""
    cache = tmp_path_factory.mktemp("cache")
    shutil.copytree(shared_cache / "shapes", cache / "shapes")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PGDL_")}
    return variables | {
        "PGDL_CACHE": str(cache),
        "SECRET_TOKEN": "hunter2",
        "COLUMNS": "200",
        "RAY_AUTH_MODE": "disabled",  # whatever token the user has
    }


@pytest.fixture(scope="session")
def pgdl(environment: dict[str, str], zygotes: SharedZygotes) -> Run:
    """Return a function that runs `pgdl ARGUMENTS` to its end in this process, with shared zygotes."""

    def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        with zygotes.used():
            return run_here([*map(str, arguments)], environment, cwd or Path.cwd())

    return run


@pytest.fixture(scope="session")
def program(environment: dict[str, str]) -> Run:
    """Return a function that runs `pgdl ARGUMENTS` to its end in a new process."""

    def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [*PGDL, *map(str, arguments)]
        return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=500)

    return run


@pytest.fixture
def start(environment: dict[str, str]) -> Any:
    """Return a function that starts `pgdl ARGUMENTS` in the background; its processes are killed after the test."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: object) -> subprocess.Popen[str]:
        command = [*PGDL, *map(str, arguments)]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=heed_interrupts,
        )  # fmt: skip
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.fixture(scope="session")
def sandbox() -> None:
    problem = Fresh().problem()
    if problem is not None:
        pytest.skip(f"no sandbox here: {problem}")


@pytest.fixture(scope="session")
def competition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("competition")
    make_task(directory, layout="full")
    return directory


@pytest.fixture(scope="session")
def one_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a single model, whose task has no reference data."""
    directory = tmp_path_factory.mktemp("single")
    make_task(directory, name="single", n_models=1, reference=False)
    return directory


@pytest.fixture(scope="session")
def four_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("four")
    make_task(directory, layout="full", n_models=4)
    return directory
