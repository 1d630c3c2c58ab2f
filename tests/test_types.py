"""Tests that mypy accepts the types of the whole program."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_types():
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
