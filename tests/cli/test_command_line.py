"""Tests of the command `pgdl` itself: fast help, one line for mistakes, a traceback for bugs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import Pgdl, Record

import harness
from harness.cli import new
from harness.cli.main import COMMANDS, ONE_THREAD
from tests.board.board_examples import rows, write_reference

ROOT = Path(__file__).parents[2]

IMPORTED = """
import json, sys
from harness.cli.main import cli

try:
    cli.main(sys.argv[1:], standalone_mode=False)
finally:
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""

HIDDEN = """
import sys

class Hidden:
    def find_spec(name, *_):
        if name in ("skimage", "xarray", "pandas", "tensorflow_datasets", "tensorflow", "keras", "tf_keras"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Hidden)
"""

#: Prints where the standard streams of a command lead, and of a process that it starts, whatever number is free first.
STREAMS = """
import os, subprocess, sys
from harness.cli import new
from harness.cli.main import main

def tell(name, **_):
    ours = [os.path.realpath(f"/proc/self/fd/{number}") for number in range(3)]
    done = subprocess.run(["readlink", *(f"/proc/self/fd/{number}" for number in range(3))], stdout=subprocess.PIPE)
    with open(name, "w") as file:
        print(*ours, done.stdout.decode(), sys.stdin.isatty(), file=file)
    print("printed")
    print("printed", file=sys.stderr)

new.command.callback = tell
sys.argv = ["pgdl", "new", sys.argv[1]]
main()
"""


def imported_by(*arguments: object) -> set[str]:
    """Return the packages that are imported in the process that runs `pgdl ARGUMENTS`."""
    command = [sys.executable, "-c", IMPORTED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)})
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_help_and_lists_import_nothing_heavy() -> None:
    heavy = {"tensorflow", "keras", "numpy", "scipy", "h5py", "sqlalchemy", "rich", "psutil", "yaml"}
    assert imported_by("--help") & heavy == set()
    assert imported_by("measures") & {"tensorflow", "keras", "tf_keras", "sklearn", "sqlalchemy"} == set()


@pytest.mark.rest
def test_boards_need_no_extra_and_no_tensorflow(folder: Path, record: Record) -> None:
    """The test hides the libraries of extras, all that they install, and TensorFlow."""
    write_reference(folder / "task_data")
    record(rows("margin"))
    for arguments in (["score"], ["board", "--output", "board", "--html", "site"], ["new", "mine"]):
        command = [sys.executable, "-c", HIDDEN + IMPORTED, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT)})
        assert done.returncode == 0, done.stderr


def test_every_command_is_listed_and_has_help_of_its_own(pgdl: Pgdl) -> None:
    listed = pgdl("--help")
    assert listed.code == 0
    for command, summary in COMMANDS.items():
        assert f"{command} " in listed.out
        assert summary.split()[0] in listed.out
        own = pgdl(command, "-h")
        assert (own.code, own.err, own.lines[0].partition(" ")[0]) == (0, "", "Usage:")
        assert f" {command} " in own.lines[0]
    assert pgdl("--version") == (0, f"pgdl, version {harness.__version__}\n", "")


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("3", "3")])
def test_products_of_matrices_use_one_thread(
    given: str | None, used: str, monkeypatch: pytest.MonkeyPatch, pgdl: Pgdl
) -> None:
    """Waiting threads of OpenBLAS would occupy processors that other calls use."""
    monkeypatch.setenv(ONE_THREAD, given or "")
    if given is None:
        monkeypatch.delenv(ONE_THREAD)
    pgdl("--version")
    assert os.environ[ONE_THREAD] == used


def test_the_installed_command_is_this_one() -> None:
    command = Path(sys.executable).with_name("pgdl")
    if not command.exists():
        pytest.skip(f"the package is not installed beside {sys.executable}")
    done = subprocess.run([command, "score", "--results"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Option '--results' requires an argument" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("score --taks x", "Did you mean"),
        ("run", "Missing argument 'SUBMISSION...'"),
        ("new", "Missing argument 'NAME'"),
        ("board --format pdf", "'pdf' is not one of 'csv', 'json', 'latex', 'markdown', 'parquet', 'table'"),
        ("run x --time-limit 0", "or a time such as 90s, 5m or 2h, at most 2592000 (30 days), found '0'"),
        ("run x --runtime mxnet", "'mxnet' is not one of 'jax', 'keras2', 'tensorflow', 'torch'"),
        ("run x --workers 0", "or auto, found '0'"),
        ("run x --memory lots", "expected a size such as 512M or 4G, found 'lots'"),
        ("run x --seed 1.5", "'1.5' is not a valid integer"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: str, message: str, pgdl: Pgdl) -> None:
    refusal = pgdl(*arguments.split()).refusal()
    assert refusal.startswith("Usage: ")
    assert message in refusal


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_closed_stream_leads_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "told"
    command = [sys.executable, "-P", "-c", STREAMS, file]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *map(str, command)], cwd=ROOT, check=False)
    ours, theirs = file.read_text().split()[:3], file.read_text().split()[3:-1]
    assert (done.returncode, ours, theirs[0], theirs[-1]) == (0, [os.devnull] * 3, os.devnull, os.devnull)


def test_an_interrupt_ends_with_130(pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(new.command, "callback", interrupt)
    assert pgdl("new", "x") == (130, "", "pgdl: interrupted\n")
