"""From nothing to a leaderboard: what `pgdl demo` prints can be pasted."""

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from real_runs import PGDL

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.usefixtures("sandbox")
def test_the_printed_commands_lead_to_a_leaderboard(environment: dict[str, str], tmp_path: Path, pgdl: Run) -> None:
    made = pgdl("demo", cwd=tmp_path)
    commands = [line.strip() for line in made.stdout.splitlines() if line.startswith("  ")]
    assert [command.split()[:2] for command in commands][1:] == [["pgdl", "check"], ["pgdl", "run"], ["pgdl", "board"]]
    script = "\n".join([f'pgdl() {{ {shlex.join(PGDL)} "$@"; }}', "set -e", *commands])
    ended = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=500
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    board = [line.split() for line in ended.stdout.partition("\nrank ")[2].splitlines()]
    assert {row[1] for row in board[1:4]} == {"error_on_mixup", "noisy_oracle", "random"}
    assert [row[-1] for row in board[1:4]] == ["16/16"] * 3
