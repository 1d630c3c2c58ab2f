"""What a caller of the API may ask for; mistakes are errors in one line, before anything runs."""

import os
import subprocess
import sys
from typing import Any

import click
import pytest

import pgdl
from harness.cli import options
from harness.errors import UserError
from pgdl import Execution


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"runtime": "theano"}, "runtime: expected one of jax, keras2, tensorflow, torch, found 'theano'"),
        ({"sandbox": "none"}, "sandbox: expected one of auto, "),
        ({"executor": "cloud"}, "executor: expected one of local, ray, found 'cloud'"),
        ({"time_limit_s": 0.0}, "time_limit_s: expected above 0, to 2592000, found 0.0"),
        ({"time_limit_s": float("nan")}, "time_limit_s: expected above 0"),
        ({"seed": -1}, "seed: expected 0 to 2**63 - 1, found -1"),
        ({"workers": 0}, "workers: expected 1 or more, or None, found 0"),
        ({"memory_bytes": 0}, "memory_bytes: expected above 0, found 0"),
        ({"time_budget": "total"}, "time_budget: expected one of average, each, found 'total'"),
        ({"withhold": True}, "withhold: expected one of always, auto, never, found True"),
        ({"sandbox": "fresh", "unsafe_no_sandbox": True}, "--unsafe-no-sandbox and --sandbox fresh contradict"),
    ],
)
def test_mistakes_are_one_line(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError) as raised:
        Execution(**settings)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_command_line_has_the_same_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a notebook and a terminal would make different rows of the same submission."""

    for name in [name for name in os.environ if name.startswith("PGDL_")]:
        monkeypatch.delenv(name)

    @click.command
    @options.execution
    def command(**given: Any) -> Execution:
        return options.execution_of(given)

    assert command.main([], standalone_mode=False) == Execution()


def test_every_public_name_is_there() -> None:
    assert all(getattr(pgdl, name) is not None for name in dir(pgdl))


def test_it_is_imported_in_milliseconds() -> None:
    program = "import pgdl, sys; print(*(name for name in sys.modules if name.split('.')[0] in {'harness', 'numpy'}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize("name", ["unknown", "cheap", "jacobian_norm:unknown=1"])
def test_a_measure_of_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(pgdl.UserError):
        pgdl.measure(name)
