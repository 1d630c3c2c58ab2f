"""Tests of the commands of `make`, and of the setup of an environment on an empty machine."""

import os
import shutil
import sys

import pytest

import baselines

STYLE = ["ruff check", "ruff format --check"]
PYTEST = "python -m pytest -n 3 --dist loadfile --no-loadscope-reorder --durations=20 --durations-min=5"
CHECKS = [*STYLE, f"{PYTEST} -m not full and not rest"]


@pytest.fixture
def venv(machine):
    """A current .venv on the machine, in which the sandbox works."""
    venv = machine.checkout / ".venv"
    for program in ("ruff", "mypy", "python", "pgdl"):
        machine.add(program, directory=venv / "bin")
    machine.add("bwrap")
    for mark in (".installed", ".tensorflow", ".sphinx"):
        (venv / mark).touch()
    machine.add("setup", directory=machine.checkout / ".ci")
    return venv


def test_make_alone_lists_the_targets(machine):
    listed = machine.run("make").stdout.splitlines()
    phony = next(line for line in (machine.checkout / "Makefile").read_text().splitlines() if line.startswith(".PHONY"))
    assert [line.split()[1] for line in listed] == phony.split()[1:]


def test_demo_runs_baselines_and_writes_the_board(machine, venv):
    assert machine.run("make", "demo").returncode == 0
    probe, run, board, verify = machine.calls()
    assert probe == "python -m harness.sandbox"
    command, options = run.split(" --tasks ")
    chosen = command.split()[2:]
    assert len(chosen) >= 5
    assert set(chosen) <= set(baselines.MEASURES)
    assert options == "task_data --results build/demo/results.db"
    written = "--output build/demo/leaderboard --html build/demo/site"
    assert board == f"pgdl board --tasks task_data --results build/demo/results.db {written}"
    assert verify == "pgdl verify build/demo/site"
    assert machine.run("make", "demo-full").returncode == 0
    assert machine.calls()[-1].startswith("pgdl compare --measures all --tasks task_data")
    machine.add("python", "echo bubblewrap is not installed; exit 2", directory=venv / "bin")
    ended = machine.run("make", "demo")
    assert any(call.startswith("pgdl run") and call.endswith(" --unsafe-no-sandbox") for call in machine.calls())
    assert "No working sandbox: bubblewrap is not installed" in ended.stderr
    assert "WITHOUT A SANDBOX" in ended.stderr


def test_pictures_are_drawn_from_a_board_and_a_comparison(machine, venv):
    (machine.checkout / "docs").mkdir()
    machine.add("pgdl", "echo printed; mkdir -p build/demo; touch build/demo/comparison.svg", directory=venv / "bin")
    machine.add("python", "cat", directory=venv / "bin")
    ended = machine.run("make", "pictures")
    assert (ended.returncode, ended.stderr) == (0, "")
    run, board, drawn = machine.calls()[-3:]
    assert run.startswith("pgdl run num_params ")
    assert " submissions/*/ --tasks task_data" in run  # as it stands: here is no such directory
    assert board == "pgdl board --tasks task_data --results build/demo/board.db --format json"
    assert drawn == "python .ci/draw_board.py"
    assert (machine.checkout / "docs" / "board.svg").read_text() == "printed\n"
    assert (machine.checkout / "docs" / "comparison.svg").exists()


@pytest.mark.parametrize(
    ("target", "program", "message", "last"),
    [
        ("demo", "python", "ImportError: no module", "python -m harness.sandbox"),
        ("demo", "pgdl", "a call failed", "pgdl run "),
        ("test", "ruff", "badly styled", "ruff check"),
    ],
    ids=["the probe itself", "a call", "a check"],
)
def test_what_fails_stops_the_target(machine, venv, target, program, message, last):
    machine.add(program, f"echo '{message}'; exit 1", directory=venv / "bin")
    ended = machine.run("make", target)
    assert (ended.returncode != 0, message in ended.stdout + ended.stderr) == (True, True)
    assert machine.calls()[-1].startswith(last)


def test_checks_are_made_in_their_order(machine, venv):
    machine.add("initdb")  # of PostgreSQL, which the rest needs
    for target, calls in {
        "test": CHECKS,
        "lint": [*STYLE, "mypy "],
        "bench": ["python -m pytest tests/benchmarks -o addopts="],
        "test-rest": [f"{PYTEST} -m rest and not full"],
    }.items():
        assert machine.run("make", "-j4", target).returncode == 0
        assert machine.calls() == calls


def test_setup_is_done_once_and_again_when_it_failed_or_what_is_installed_changes(machine, venv):
    (venv / ".installed").unlink()
    machine.add("setup", "exit 1", directory=machine.checkout / ".ci")
    for _ in range(2):
        assert machine.run("make", "test").returncode != 0
        assert machine.calls() == ["setup .venv"]
    machine.add("setup", directory=machine.checkout / ".ci")
    for changed in (None, "pyproject.toml", "constraints.txt"):
        if changed:
            later = (venv / ".installed").stat().st_mtime + 1
            os.utime(machine.checkout / changed, (later, later))
        machine.run("make", "setup", "PYTHON=python3.12")
        assert machine.calls() == ["setup .venv python3.12"]
        now = max(path.stat().st_mtime for path in machine.checkout.iterdir()) + 2
        os.utime(venv / ".installed", (now, now))
        machine.run("make", "setup")
        assert machine.calls() == []


def test_the_demo_installs_one_framework_unless_all_are_there_and_only_the_documentation_its_tool(machine, venv):
    extras = machine.checkout / "extras"
    machine.add("setup", 'echo "$EXTRAS" >> extras', directory=machine.checkout / ".ci")
    (venv / ".tensorflow").unlink()
    machine.run("make", "demo")
    assert "setup .venv" in machine.calls()
    assert extras.read_text() == "tensorflow\n"
    (venv / ".tensorflow").unlink()
    (venv / ".installed").unlink()
    machine.run("make", "setup")
    assert extras.read_text() == "tensorflow\n\n"
    machine.calls()
    extras.unlink()
    (venv / ".sphinx").unlink()
    for target in ("demo", "test"):
        machine.run("make", target)
    assert "setup .venv" not in machine.calls()
    assert not extras.exists()
    assert machine.run("make", "docs").returncode == 0
    assert extras.read_text() == "docs\n"
    assert machine.calls() == ["setup .venv", "python -m sphinx -W --keep-going -q -c docs . build/docs"]


def test_clean_keeps_the_environment_and_the_sources(machine, venv):
    for folder in ("build/demo", "harness/__pycache__", ".venv/lib/__pycache__", "pgdl_harness.egg-info"):
        (machine.checkout / folder).mkdir(parents=True)
    assert machine.run("make", "clean").returncode == 0
    left = {path.name for path in machine.checkout.iterdir()}
    assert left == {".ci", ".venv", "Makefile", "constraints.txt", "harness", "pyproject.toml"}
    assert not (machine.checkout / "harness/__pycache__").exists()
    assert (venv / "lib/__pycache__").exists()


#: Package manager -> how it is called to install bubblewrap.
MANAGERS = {
    "apt-get": "apt-get install -y -qq -o DPkg::Lock::Timeout=120 --no-install-recommends bubblewrap",
    "dnf": "dnf install --assumeyes --quiet bubblewrap",
    "pacman": "pacman -S --needed --noconfirm bubblewrap",
    "apk": "apk add --quiet bubblewrap",
    "zypper": "zypper --non-interactive --quiet install bubblewrap",
}
ROOT_USER, ORDINARY_USER = "echo 0", "echo 1000"
A_PYTHON = f'exec {sys.executable} "$@"'

#: A Python whose environments have itself as the interpreter.
MAKES_ENVIRONMENTS = """
case "$*" in
    *"import ensurepip"*) exit {without_ensurepip} ;;
    *python%d.%d-venv*) echo python3.11-venv ;;
    *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
esac
"""


@pytest.mark.parametrize("manager", MANAGERS)
def test_packages_are_installed_or_the_command_is_told(machine, manager):
    """Root installs, and so do users whose sudo asks for no password. For other users, the command is printed."""
    ended = machine.run(".ci/install", "bubblewrap")  # without a known package manager
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    machine.add(manager)
    machine.add("true")
    machine.add("id", ORDINARY_USER)
    verb = "-S" if manager == "pacman" else "add" if manager == "apk" else "install"
    told = f"bubblewrap: not installed; install it with: sudo {manager} {verb} bubblewrap\n"
    for sudo in (None, "echo 'sudo: a password is required' >&2; exit 1"):
        if sudo is not None:
            machine.add("sudo", sudo)
        ended = machine.run(".ci/install", "bubblewrap")
        assert (ended.returncode, ended.stderr) == (1, told)
        assert not any(call.startswith(manager) for call in machine.calls())
    machine.add("sudo", '[ "$1" = -n ] && shift && exec "$@"')
    for user in (ORDINARY_USER, ROOT_USER):
        machine.add("id", user)
        assert machine.run(".ci/install", "bubblewrap").returncode == 0
        assert machine.calls()[-1] == MANAGERS[manager]
    machine.add(manager, "echo 'E: Unable to locate package' >&2; exit 100")
    ended = machine.run(".ci/install", "bubblewrap")
    assert (ended.returncode, "E: Unable to locate package" in ended.stderr) == (1, True)
    assert ended.stderr.endswith(f"then try: {manager} {verb} bubblewrap\n")


def test_the_newest_python_is_taken_that_has_wheels_of_tensorflow(machine):
    for given in ([], ["python3.9"]):
        ended = machine.run(".ci/find-python", *given)
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
        assert ended.stderr.startswith("python3.9: expected" if given else "expected")
        assert "make PYTHON=" in ended.stderr
    for minor, fits in {10: False, 11: True, 12: True, 13: True, 14: False}.items():
        version = f"import sys; sys.version_info = (3, {minor}, 0, 'final', 0)"
        machine.add("python3", f'exec {sys.executable} -c "{version}; $2"')
        assert (machine.run(".ci/find-python").returncode == 0) is fits
    machine.add("python3", A_PYTHON)
    machine.add("python3.12", A_PYTHON)
    machine.add("python3.13", "echo 'pyenv: python3.13: command not found' >&2; exit 127")
    assert machine.run(".ci/find-python").stdout == "python3.12\n"


def test_setup_makes_the_environment_at_the_tested_versions_and_keeps_one_that_works(machine):
    """It installs the part of Python that Debian leaves out, or names it."""
    machine.add("python3.11", MAKES_ENVIRONMENTS.format(without_ensurepip=1))
    machine.add("id", ORDINARY_USER)
    machine.add("apt-get")
    ended = machine.run(".ci/setup", ".venv")
    assert ended.returncode == 1
    assert ended.stderr == "python3.11-venv: not installed; install it with: sudo apt-get install python3.11-venv\n"
    assert not (machine.checkout / ".venv").exists()
    machine.add("id", ROOT_USER)
    assert machine.run(".ci/setup", ".venv").returncode == 0
    assert any(call.endswith("--no-install-recommends python3.11-venv") for call in machine.calls())
    shutil.rmtree(machine.checkout / ".venv")
    machine.add("python3.11", MAKES_ENVIRONMENTS.format(without_ensurepip=0))
    for made in (True, False):
        assert machine.run(".ci/setup", ".venv").returncode == 0
        *others, install, compilation = machine.calls()
        assert any("-m venv" in call for call in others) is made
        assert install.endswith("--no-compile -c constraints.txt -e .[dev,testbed,tensorflow,jax,torch]")
        assert compilation.endswith("-m compileall -qq -j 0 .venv/lib")


def test_continuous_integration_starts_from_nothing(machine):
    make = machine.programs / "make"
    machine.remove("make")
    machine.add("id", ROOT_USER)
    copy = f'for name; do :; done; cp {machine.programs}/any "{machine.programs}/$name"'
    machine.add("apt-get", f'[ "$1" = update ] || {{ {copy}; }}')
    # The installed `make` only logs its call; the installed `python3` is this Python.
    machine.add("any", f'[ "${{0##*/}}" = make ] || {A_PYTHON}')
    ended = machine.run(".ci/run")
    calls = machine.calls()
    assert make.exists()
    assert [call.split()[-1] for call in calls if "apt-get install" in call] == ["make", "python3"]
    assert [call for call in calls if call.startswith("any test")] == ["any test", "any test-rest"]
    assert "make is missing" in ended.stdout
    assert "make test, with python3" in ended.stdout
