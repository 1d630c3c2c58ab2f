"""Runs a program of the harness that needs a framework, once, in a process of its own."""

import os
import subprocess
import sys

from harness.errors import UserError
from harness.worker.runtimes import Runtime


def run_program(module: str, runtime: Runtime, *arguments: str, threads: int = 1) -> str:
    """Run `python -m MODULE ARGUMENTS` without a GPU, and return its output.

    Raises:
        UserError: the program ended with exit code 2; its last line is the message.
    """
    ended = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True, text=True, check=False, env=os.environ | runtime.environment(threads, gpu=False),
    )  # fmt: skip
    lines = ended.stdout.strip().splitlines()
    if ended.returncode == 2 and lines:
        raise UserError(lines[-1])
    if ended.returncode:
        raise RuntimeError(f"{module} ended with status {ended.returncode}:\n{ended.stderr[-3000:]}")
    return ended.stdout
