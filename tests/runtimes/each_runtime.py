"""Shared parts of the tests of all runtimes."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from forks import forks

from harness.worker.runtimes import RUNTIMES


def each_of(*names: str) -> pytest.MarkDecorator:
    """Return a mark that runs a test with the `name` of each runtime; `make test` runs only the runtimes in `names`."""
    return pytest.mark.parametrize("name", [_parameter(name, name in names) for name in RUNTIMES])


def _parameter(name: str, always: bool) -> Any:
    missing = pytest.mark.skipif(bool(RUNTIMES[name].missing()), reason=f"runtime {name}: not installed")
    return pytest.param(name, marks=[missing] if always else [missing, pytest.mark.full])


each = each_of(*RUNTIMES)


def run(name: str, *arguments: object, anew: bool = False) -> str:
    """Run a program of in_runtime.py, with `anew` in a new interpreter; return its output."""
    return run_python(name, Path(__file__).with_name("in_runtime.py"), name, *arguments, anew=anew)


def run_python(name: str, *arguments: object, anew: bool = False) -> str:
    """Run `python ARGUMENTS` with a runtime, as a fork of a process that has imported it; return the output."""
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "-1"} | RUNTIMES[name].environment(1, gpu=False)
    command = [*map(str, (sys.executable, *arguments))]
    if anew:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    else:
        done = forks.run(name, command, environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
