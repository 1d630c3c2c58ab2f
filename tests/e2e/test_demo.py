"""From nothing to a leaderboard: the commands that `pgdl demo` prints can be pasted."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

#: Stands for `pgdl` in the shell into which the commands are pasted: tells the directory and the words of each.
TELL = 'pgdl() { printf "%s\\0" "$PWD" "$@"; echo; }'


@pytest.mark.usefixtures("sandbox")
def test_the_printed_commands_lead_to_a_leaderboard(tmp_path: Path, pgdl: Run) -> None:
    made = pgdl("demo", cwd=tmp_path)
    commands = [line.strip() for line in made.stdout.splitlines() if line.startswith("  ")]
    assert [command.split()[:2] for command in commands][1:] == [["pgdl", "check"], ["pgdl", "run"], ["pgdl", "board"]]
    pasted = subprocess.run(
        ["sh", "-ec", "\n".join([TELL, *commands])], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for line in pasted.stdout.splitlines():
        directory, *words = line.removesuffix("\0").split("\0")
        ended = pgdl(*words, cwd=Path(directory))
        assert (ended.returncode, ended.stderr) == (0, "")
    board = [line.split() for line in f"\n{ended.stdout}".partition("\nrank ")[2].splitlines()]
    assert [row[1] for row in board[1:4]] == ["layer_margin_q1_l0", "input_gradient", "random"], "chance is last"
    assert [row[-1] for row in board[1:4]] == ["16/16"] * 3
