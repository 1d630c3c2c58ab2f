"""Tests with a stranger's submission as the current directory: its files run and are read in the sandbox only."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from throwaway import make_task

from harness.processes import Process
from harness.processes.runtimes import PREFERRED
from harness.protocols.testbed.images import read_images
from harness.submission import find_flaw, find_submission
from harness.worker.runtimes import RUNTIMES

PGDL = Path(sys.executable).parent / "pgdl"

#: Code of a stranger's module.
LEAVE_PROOF = "import os\nwith open({proof!r}, 'a') as file:\n    file.write(__name__ + ' was imported\\n')\n"

MEASURE = "def complexity(model, dataset):\n    return float(sum((w ** 2).sum() for w in model.get_weights()))\n"

#: Files that Python and its libraries look for by name.
LOOKED_FOR = ("sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py")

#: Variables by which others decide what Python and its libraries import, and how they compute.
VARIABLES = {
    "PYTHONSTARTUP": "{}/sitecustomize.py",
    "PYTHONUSERBASE": "{}",
    "PYTHONHASHSEED": "1",
    "MPLBACKEND": "module://evil",
    "MATPLOTLIBRC": "{}",
    "KERAS_BACKEND": "evil",
    "KERAS_HOME": "{}",
    "KERAS_MAX_EPOCHS": "1",
    "TF_USE_LEGACY_KERAS": "1",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_CPP_MIN_LOG_LEVEL": "0",
    "JAX_ENABLE_X64": "1",
    "XLA_FLAGS": "--no_such_flag",
}


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hostile current directory with a module of every name that may be imported."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    code = LEAVE_PROOF.format(proof=str(tmp_path / "PROOF"))
    names = {name for name in (*sys.stdlib_module_names, *packages_distributions()) if name.isidentifier()}
    for name in (*(f"{one}.py" for one in names), *LOOKED_FOR):
        (folder / name).write_text(code)
    (folder / "evil.pth").write_text(f"import os; open({str(tmp_path / 'PROOF')!r}, 'a').write('a path file ran')\n")
    (folder / "keras.json").write_text('{"floatx": "float64", "image_data_format": "channels_first"}')
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--no-such-option'\n")
    os.mkfifo(folder / "matplotlibrc")  # whoever reads it waits without end
    (tmp_path / "norms.py").write_text(MEASURE)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def hostile_environment(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the user's environment name the hostile directory wherever it can."""
    monkeypatch.setenv("PYTHONPATH", str(directory))
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value.format(directory))


def proof(directory: Path) -> str:
    """Return the names of hostile modules that have run outside of a sandbox."""
    file = directory.parent / "PROOF"
    return file.read_text() if file.exists() else ""


@pytest.mark.rest
@pytest.mark.parametrize("name", PREFERRED)
def test_a_process_that_runs_models(name: str, directory: Path, hostile_environment: None, new_processes: None) -> None:
    """A variable of the environment names another directory of Keras settings; the defaults are still used."""
    layers = [{"class_name": "Conv2D", "config": {"filters": 2, "kernel_size": 3}}]
    architecture = {"format": "layers", "input_shape": [4, 4, 1], "layers": layers, "softmax": None}
    with Process("harness.processes.shapes", RUNTIMES[name], gpu=False) as process:
        assert process.ask(architecture)["output_shape"] == [2, 2, 2]
    assert proof(directory) == ""


@pytest.mark.rest
def test_a_process_that_reads_the_users_own_data(
    directory: Path, hostile_environment: None, new_processes: None
) -> None:
    assert read_images("digits", (8, 8, 1)).train.inputs.shape[1:] == (8, 8, 1)
    assert proof(directory) == ""


def test_the_processes_that_read_a_submission(directory: Path, hostile_environment: None) -> None:
    assert find_submission("../norms.py").problem is None
    assert "line 1" in find_flaw(b"def complexity(:\n")
    assert proof(directory) == ""


@pytest.fixture
def pgdl(directory: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Return a function that runs the installed command in the hostile directory."""
    environment = os.environ | {"MPLBACKEND": "module://evil", "KERAS_HOME": str(directory)}
    return lambda *arguments: subprocess.run(
        [PGDL, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=600
    )


@pytest.mark.rest
def test_commands_in_that_directory(pgdl: Callable[..., "subprocess.CompletedProcess[str]"], directory: Path) -> None:
    make_task(directory.parent / "tasks")
    tasks, records = ("--tasks", "../tasks"), ("--results", "../r.db")
    for arguments in (
        ("run", "../norms.py", "num_params", *tasks, *records),
        ("board", *tasks, *records, "--html", "../site"),
        ("verify", "../site"),
        ("compare", "--measures", "num_params,vc_dim", *tasks, *records, "--output", "../comparison"),
    ):
        done = pgdl(*arguments)
        assert done.returncode == 0, done.stderr
    assert proof(directory) == ""


@pytest.mark.rest
def test_a_submission_is_checked_where_it_lies(
    pgdl: Callable[..., "subprocess.CompletedProcess[str]"], directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(directory.parent / "tasks", n_models=4)
    own = directory.parent / "own"
    (own / "harness").mkdir(parents=True)
    for name in ("keras.py", "jax.py", "json.py", "random.py", "click.py", "harness/__init__.py"):
        (own / name).write_text((directory / "json.py").read_text())
    (own / "complexity.py").write_text(MEASURE)
    monkeypatch.chdir(own)
    checked = pgdl("check", ".", "--tasks", "../tasks")
    assert checked.returncode == 0, checked.stderr
    assert proof(directory) == ""


def test_the_module_of_the_command_line(directory: Path) -> None:
    """`python -m` itself imports modules before any program can prevent it, so only one name is tried."""
    for file in directory.glob("*.py"):
        if file.name != "click.py":
            file.unlink()
    done = subprocess.run([sys.executable, "-m", "pgdl", "--version"], capture_output=True, text=True)
    assert "pgdl" in done.stdout
    assert proof(directory) == ""
