"""Tests of the completions that a shell receives when the user presses Tab."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
        ("pgdl score num_par", ["plain,num_params"]),
        ("pgdl measures num_par", ["plain,num_params"]),
        ("pgdl compare --measures che", ["plain,cheap"]),
        ("pgdl compare --measures cheap,gi_intra", ["plain,cheap,gi_intra_l0", "plain,cheap,gi_intra_l1"]),
        (
            "pgdl compare --measures grad",
            [f"plain,gradient{end}" for end in ("s", "", "_confusion", "_norm", "_noise_final")],
        ),
        ("pgdl task val", ["plain,validate"]),
    ],
)
def test_bash(line: str, expected: list[str], folder: Path) -> None:
    assert completed(line, folder) == expected
