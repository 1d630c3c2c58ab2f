"""Tests of the API's functions: wrong arguments, each an error in one line before anything runs; and `pgdl.doctor`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from kept_notes import Notes

import pgdl
from harness.api import doctor_sandbox
from harness.api.doctor import BAD, GOOD, Finding
from harness.api.execution import prepare
from harness.api.progress import SILENT
from harness.api.submissions import find
from harness.cli import options
from harness.configuration import UNSANDBOXED
from harness.errors import UserError
from harness.extras import OF_ANY_FRAMEWORK, install
from harness.records import Records
from harness.sandbox import Staging
from harness.worker.runtimes import RUNTIMES
from pgdl import Execution, doctor
from tests.board.board_examples import rows, write_reference


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
        ({"memory_bytes": 0}, "memory_bytes: expected a whole number above 0, or None, found 0"),
        ({"memory_bytes": "4G"}, "memory_bytes: expected a whole number above 0, or None, found '4G'"),
        ({"time_limit_s": "5m"}, "time_limit_s: expected above 0, to 2592000, found '5m'"),
        ({"time_limit_s": None}, "time_limit_s: expected above 0, to 2592000, found None"),
        ({"workers": True}, "workers: expected 1 or more, or None, found True"),
        ({"seed": 1.5}, "seed: expected 0 to 2**63 - 1, found 1.5"),
        ({"runtime": ["jax"]}, "runtime: expected one of jax, keras2, tensorflow, torch, found ['jax']"),
        ({"sandbox_parameters": "image"}, "sandbox_parameters: expected an empty mapping, found 'image'"),
        (
            {"sandbox": "docker", "sandbox_parameters": {"port": "1"}},
            "expected a mapping with keys among image, runtime, found {'port'",
        ),
        (
            {"executor_parameters": {"address": "head:6379"}},
            "executor_parameters: expected an empty mapping, found {'address'",
        ),
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


def test_numbers_of_numpy_are_numbers() -> None:
    numbers: dict[str, Any] = {"seed": np.int64(3), "workers": np.int8(1), "memory_bytes": np.int64(2**30)}
    for seconds in (5, np.float32(5)):
        chosen = Execution(time_limit_s=seconds, unsafe_no_sandbox=True, **numbers)  # type: ignore[arg-type]
        settings, executor = prepare(chosen, [], SILENT)
        found = settings.configuration("tensorflow", UNSANDBOXED, "")
        assert found.id == replace(found, time_limit_s=5.0, run_seed=3, memory_limit_bytes=2**30).id
        assert executor.workers == 1


def test_what_is_no_submission_is_refused() -> None:
    """Both functions refuse what is no submission; `check` also refuses several submissions."""
    given: Any
    for given in ([], None, 3, b"mine.py", [None], {}):
        for function in (pgdl.run, pgdl.check):
            with pytest.raises(UserError) as raised:
                function(given)
            expected = f"submissions: expected paths, names of measures, or functions, found {given!r}"
            assert str(raised.value) == expected
    given = ["num_params", "depth"]
    with pytest.raises(UserError, match="submission: expected a path, the name of a measure, or a function, found "):
        pgdl.check(given)


@pytest.mark.parametrize(
    ("function", "arguments", "problem"),
    [
        *((function, {"withhold": "no"}, "withhold: expected one of auto, always, never, found 'no'") for function in (
            pgdl.board, pgdl.score, pgdl.report, pgdl.results, pgdl.compare_recorded, pgdl.list_tasks, pgdl.show_tasks,
            pgdl.validate_tasks,
        )),
        (pgdl.overfit, {"task_name": "toy", "edges": "no"}, "edges: expected one of black, wrap, found 'no'"),
        (pgdl.overfit, {"task_name": "toy", "generator": "no"}, "generator: expected one of strongest, nearest, found"),
        (pgdl.invariance, {"task_name": "toy", "seed": -1}, "seed: expected 0 to "),
        (pgdl.invariance, {"task_name": "toy", "perturbations": "scaling"}, "no perturbation 'scaling'"),
        (pgdl.invariance, {"task_name": "toy", "ranges": "scaling=0..1"}, "found 'scaling=0..1'"),
        (pgdl.run, {"submissions": "depth", "names": "mine"}, "(0 in all), found 1"),
        *((pgdl.run, {"submissions": "any.py", "repeats": repeats}, f"repeats: expected 0 to 1000, found {repeats!r}")
          for repeats in (-1, 1.5, "2", 1001)),
        (pgdl.build_task, {"recipe": "digits_nin", "output": "tasks", "limit": -1}, "limit: expected 1 or more, or"),
        (pgdl.build_task, {"recipe": "digits_nin", "output": "tasks", "workers": 0}, "workers: expected 1 or more, or"),
        (pgdl.fetch_corpus, {"name": "pgdl2020/task8", "models": -1}, "models: expected 1 model or more, found -1"),
        (pgdl.fetch_corpus, {"name": "pgdl2020/task8", "models": []}, "models: expected 1 model or more, found []"),
        (pgdl.new, {"directory": "mine", "runtime": "theano"}, "runtime: expected one of tensorflow, "),
        (lambda **of: list(pgdl.doctor(**of)), {"executor": "cloud"}, "executor: expected one of local, ray, found"),
        (pgdl.score, {"submissions": Path("no.py")}, "no records of 'no.py'"),
        (pgdl.forecast_costs, {"measures": "no_such"}, "no measure"),
        (pgdl.forecast_costs, {"measures": "vc_dim:image_side=8"}, "a name alone"),
        (pgdl.measure, {"name": "cheap"}, "no measure"),
        (pgdl.measure, {"name": "jacobian_norm:unknown=1"}, "unknown"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_refused_as_by_the_command(
    function: Any, arguments: dict[str, Any], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_reference(tmp_path / "task_data")
    with Records("results.db") as records:
        records.add(*rows("mine"))
    with pytest.raises(UserError) as raised:
        function(**arguments)
    assert problem in str(raised.value)


def test_the_command_line_has_the_same_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a notebook and a terminal would make different rows of the same submission."""

    for name in [name for name in os.environ if name.startswith("PGDL_")]:
        monkeypatch.delenv(name)

    @click.command
    @options.execution
    def command(**asked: Any) -> dict[str, Any]:
        return options.with_execution(asked)

    assert command.main([], standalone_mode=False) == {"execution": Execution()}


def test_every_public_name_is_there_after_milliseconds() -> None:
    assert all(getattr(pgdl, name) is not None for name in dir(pgdl))
    program = "import pgdl, sys; print(*(name for name in sys.modules if name.split('.')[0] in {'harness', 'numpy'}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


SCALE, NAME = 3.0, "a text"


def scaled(model: Any, dataset: Any) -> float:
    return SCALE * len(NAME)


def test_values_that_come_with_a_function_are_told_as_soon_as_it_is_read() -> None:
    notes = Notes()
    find(scaled, ["another name"], notes)
    assert notes.lines == ["another name contains copies of: NAME = 'a text', SCALE = 3.0"]


def test_doctor_names_a_cache_that_cannot_be_written_and_the_lack_of_a_framework(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tests of the sandbox are replaced: files are staged, but no process starts."""

    def trial() -> Iterator[Finding]:
        with Staging():
            yield Finding(GOOD, "sandbox", "works")

    monkeypatch.setattr(doctor_sandbox, "automatic_findings", trial)
    monkeypatch.setattr(doctor_sandbox, "other_findings", lambda: iter(()))
    monkeypatch.setenv("PGDL_CACHE", "/proc/none")
    found = list(doctor())
    (bad,) = (finding for finding in found if finding.state == BAD)
    assert (bad.item, bad.found) == ("cache", "does not work")
    assert bad.consequence.startswith("/proc/none: cannot be created: ")
    assert Finding(GOOD, "sandbox", "works") in found
    for runtime in RUNTIMES.values():
        monkeypatch.setattr(type(runtime), "missing", lambda self: list(self.distributions))
    remedies = [finding.consequence for finding in doctor() if install("tensorflow") in finding.consequence]
    assert remedies == [f"one is needed: {install('tensorflow')}{OF_ANY_FRAMEWORK}"]
