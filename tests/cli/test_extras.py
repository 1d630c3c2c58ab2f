"""Tests of commands that lack an extra: the message names the command that installs it here."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from harness import extras

PIP = f"{sys.executable} -m pip install"
URL = "file:///srv/pgdl_harness-0.1.0-py3-none-any.whl"


ORIGINS: list[tuple[dict[str, object] | None, str]] = [
    (None, f"{PIP} 'pgdl-harness[jax]'"),
    ({"url": URL, "archive_info": {}}, f"{PIP} 'pgdl-harness[jax] @ {URL}'"),
    ({"url": "file:///usr", "dir_info": {}}, f"{PIP} '/usr[jax]'"),
    ({"url": "file:///usr", "dir_info": {"editable": True}}, f"{PIP} --editable '/usr[jax]'"),
    (
        {"url": "https://x.org/p", "vcs_info": {"vcs": "git", "commit_id": "ab"}},
        f"{PIP} 'pgdl-harness[jax] @ git+https://x.org/p@ab'",
    ),
]


def test_it_comes_from_where_the_package_came_and_with_the_same_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without pip is one of uv."""
    for origin, command in ORIGINS:
        text = None if origin is None else json.dumps(origin)
        found = SimpleNamespace(read_text=Mock(return_value=text))
        with monkeypatch.context() as patch:
            patch.setattr(extras.metadata, "distribution", Mock(return_value=found))
            assert extras.install("jax") == command
    with monkeypatch.context() as patch:
        patch.setattr(extras, "find_spec", lambda _: None)
        assert extras.install("jax").startswith(f"uv pip install --python {sys.executable}")
    for prefix, command in (("uv/tools", "uv tool install --force"), ("pipx/venvs", "pipx install --force")):
        monkeypatch.setattr(sys, "prefix", f"/x/{prefix}/pgdl-harness")
        assert extras.install("jax").startswith(command)


def test_what_is_lacking() -> None:
    frameworks = extras.install("tensorflow") + extras.OF_ANY_FRAMEWORK
    for module, line in {
        "requests": f"requests is not installed; {extras.install('run')}",
        "pyseccomp": f"no extra with a framework is installed (pyseccomp is missing); {frameworks}",
        "unknown": "",
    }.items():
        assert extras.lacking(ModuleNotFoundError(name=module)) == line


def program(code: str, *arguments: str, path: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run Python code in a new process; `path` is its PYTHONPATH, and its only variable."""
    environment = None if path is None else {"PYTHONPATH": str(path)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_command_without_its_library_says_so_in_one_line() -> None:
    code = "import sys; sys.modules['requests'] = None; from harness.cli.main import main; main()"
    done = program(code, "task", "fetch", "pgdl2020")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pgdl: requests is not installed; {extras.install('run')}\n"


def test_a_foreign_module_on_the_path_is_named_unless_a_bug_is_not_its_fault(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").touch()
    done = program("import theirs; from harness.cli import main; main.cli = None; main.main()", path=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (70, "pgdl: this is a bug")
    (tmp_path / "rich").mkdir()
    module = tmp_path / "rich" / "__init__.py"
    module.write_text("raise ImportError('of another Python')")
    done = program("from harness.cli.main import main; main()", "doctor", path=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"pgdl: {module} comes from PYTHONPATH and may not fit (ImportError: of another Python); unset PYTHONPATH"
    ]
