"""Benchmark of starting: a command without a framework takes at most a few times as long as Python with click."""

import subprocess
import sys
from functools import partial

import pytest
from stopwatch import seconds


def start(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)


@pytest.mark.parametrize(
    ("command", "at_most"), [(["--help"], 2.0), (["measures"], 15.0), (["results", "--help"], 3.0)]
)
def test_start_of_a_command(command: list[str], at_most: float) -> None:
    bare = seconds(partial(start, "-c", "import click"), repeats=5)
    ratio = seconds(partial(start, "-m", "pgdl", *command), repeats=5) / bare
    print(f"pgdl {' '.join(command)}: {ratio:.1f} times `import click` ({bare:.3f} s)")
    assert ratio < at_most
