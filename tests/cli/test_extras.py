"""Tests of commands that lack an extra: the message names the command that installs it here."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness import extras

PIP = f"{sys.executable} -m pip install"
URL = "file:///srv/pgdl_harness-0.1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, f"{PIP} 'pgdl-harness[jax]'"),
        ({"url": URL, "archive_info": {}}, f"{PIP} 'pgdl-harness[jax] @ {URL}'"),
        ({"url": "file:///usr", "dir_info": {}}, f"{PIP} '/usr[jax]'"),
        ({"url": "file:///usr", "dir_info": {"editable": True}}, f"{PIP} --editable '/usr[jax]'"),
        (
            {"url": "https://x.org/p", "vcs_info": {"vcs": "git", "commit_id": "ab"}},
            f"{PIP} 'pgdl-harness[jax] @ git+https://x.org/p@ab'",
        ),
    ],
)
def test_it_comes_from_where_the_package_came(
    monkeypatch: pytest.MonkeyPatch, origin: Mapping[str, object] | None, command: str
) -> None:
    found = SimpleNamespace(read_text=lambda _: None if origin is None else json.dumps(origin))
    monkeypatch.setattr(extras.metadata, "distribution", lambda _: found)
    assert extras.install("jax") == command


@pytest.mark.parametrize(
    ("prefix", "command"),
    [("/x/uv/tools/pgdl-harness", "uv tool install --force"), ("/x/pipx/venvs/pgdl-harness", "pipx install --force")],
)
def test_tools_are_installed_again_as_tools(monkeypatch: pytest.MonkeyPatch, prefix: str, command: str) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    assert extras.install("jax").startswith(command)


def test_an_environment_without_pip_is_one_of_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    assert extras.install("jax").startswith(f"uv pip install --python {sys.executable}")


@pytest.mark.parametrize(
    ("module", "problem", "remedy"),
    [
        ("requests", "requests is not installed", extras.install("run")),
        (
            "pyseccomp", "no extra with a framework is installed (pyseccomp is missing)",
            extras.install("tensorflow") + extras.OF_ANY_FRAMEWORK,
        ),
        ("unknown", "", ""),
    ],
)  # fmt: skip
def test_what_is_lacking(module: str, problem: str, remedy: str) -> None:
    line = extras.lacking(ModuleNotFoundError(name=module))
    assert line == (f"{problem}; {remedy}" if problem else "")


def test_a_command_without_its_library_says_so_in_one_line() -> None:
    program = "import sys; sys.modules['requests'] = None; from harness.cli.main import main; main()"
    command = [sys.executable, "-c", program, "task", "fetch", "pgdl2020"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pgdl: requests is not installed; {extras.install('run')}\n"


def test_a_bug_is_no_fault_of_a_module_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").touch()
    program = "import theirs; from harness.cli import main; main.cli = None; main.main()"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert done.stderr.splitlines()[-1] == "pgdl: this is a bug"


def test_a_foreign_module_on_the_path_is_named(tmp_path: Path) -> None:
    (tmp_path / "rich").mkdir()
    module = tmp_path / "rich" / "__init__.py"
    module.write_text("raise ImportError('of another Python')")
    program = "from harness.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "doctor"],
        env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"pgdl: {module} comes from PYTHONPATH and may not fit (ImportError: of another Python); unset PYTHONPATH"
    ]
