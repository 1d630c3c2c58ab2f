"""Runs programs of this directory in a process with PyTorch, which a test process never imports."""

import os
import sys
from pathlib import Path

from forks import forks

from harness.worker.runtimes import RUNTIMES

HERE = Path(__file__).parent


def run_in_torch(program: str, *arguments: object) -> str:
    """Run a program of this directory in a process with PyTorch; return its output."""
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "-1"} | RUNTIMES["torch"].environment(1, gpu=False)
    ended = forks.run("torch", [sys.executable, str(HERE / program), *map(str, arguments)], environment)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return str(ended.stdout)
