"""What needs no sandbox works on a Mac, as far as a process can be made to look like one of it (tests/mac)."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.board.board_examples import rows, write_reference
from tests.throwaway import make_task

ROOT = Path(__file__).parents[2]
NO_CALLS = (
    "pgdl: calls of submissions and measures: expected Linux, found Darwin; "
    "make them on Linux: in WSL, a virtual machine or a container (docs/systems.md)"
)


def on_a_mac(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "mac"), str(ROOT)])}
    command = [sys.executable, "-m", "harness.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_boards_scores_and_sites(folder: Path, record: Callable[..., Any]) -> None:
    write_reference(folder / "task_data")
    record(rows("margin"))
    for arguments in (
        ["board", "--output", "board", "--html", "site"], ["verify", "site"], ["score", "margin"], ["results"],
        ["report", "margin"], ["task", "list", "task_data"],
    ):  # fmt: skip
        done = on_a_mac(*arguments)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr


def test_tasks_are_shown_and_validated(folder: Path) -> None:
    """Keras is asked in a process of its own."""
    make_task(folder / "tasks", layout="full", n_models=4)
    for arguments in (["task", "validate", "tasks"], ["task", "show", "tasks"]):
        done = on_a_mac(*arguments)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["run", "num_params"], ["check", "num_params", "--unsafe-no-sandbox"]])
def test_calls_are_refused_in_one_line(folder: Path, arguments: list[str]) -> None:
    make_task(folder / "tasks", layout="full", n_models=4)
    done = on_a_mac(*arguments, "--tasks", "tasks")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == NO_CALLS


def test_doctor_says_what_is_not_there(folder: Path) -> None:
    done = on_a_mac("doctor")
    assert "MISSING calls" in done.stdout
    assert NO_CALLS.removeprefix("pgdl: ") in " ".join(done.stdout.split())
    assert "Traceback" not in done.stderr
