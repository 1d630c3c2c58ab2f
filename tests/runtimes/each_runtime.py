"""What the tests of all runtimes share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.worker.runtimes import RUNTIMES

each = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.skipif(bool(runtime.missing()), reason=f"runtime {name}: not installed"))
        for name, runtime in RUNTIMES.items()
    ],
)


def run(name: str, *arguments: object) -> str:
    """Run a program of in_runtime.py; returns its output."""
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "-1"} | RUNTIMES[name].environment(1, gpu=False)
    program = Path(__file__).with_name("in_runtime.py")
    command = [sys.executable, program, name, *arguments]
    done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
