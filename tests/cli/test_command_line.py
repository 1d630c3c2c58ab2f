"""Tests of the command `pgdl` itself: fast help, streams, signals, exit codes, and places that cannot be written."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from in_process import Pgdl, Record

import harness
from harness.cli import new
from harness.cli.main import COMMANDS, EXIT_CODES, ONE_THREAD
from tests.board.board_examples import rows, write_reference
from tests.throwaway import make_task

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

SLOW_IMPORT = """
import sys, time

class Finder:
    def find_spec(self, name, *_):
        if name == "harness.cli.main":
            print("importing", flush=True)
            time.sleep(60)

sys.meta_path.insert(0, Finder())
from pgdl.__main__ import main
main()
"""


def program(
    *arguments: object, output: int = subprocess.PIPE, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run `python ARGUMENTS` in a process that imports the program from this checkout."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)], stdout=output, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
    )  # fmt: skip


def test_help_and_lists_import_nothing_heavy() -> None:
    heavy = {"tensorflow", "keras", "numpy", "scipy", "h5py", "sqlalchemy", "rich", "psutil", "yaml"}
    some = {"tensorflow", "keras", "tf_keras", "sklearn", "sqlalchemy"}
    for command, unwanted in (("--help", heavy), ("measures", some)):
        imported = json.loads(program("-c", IMPORTED, command).stderr.splitlines()[-1])
        assert (unwanted & {*imported}, "click" in imported) == (set(), True), command


@pytest.mark.rest
def test_boards_need_no_extra_and_no_tensorflow(folder: Path, record: Record) -> None:
    """The test hides the libraries of extras, all that they install, and TensorFlow."""
    write_reference(folder / "task_data")
    record(rows("margin"))
    for arguments in (["score"], ["board", "--output", "board", "--html", "site"], ["new", "mine"]):
        done = program("-c", HIDDEN + IMPORTED, *arguments)
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


def test_the_installed_command_is_this_one_and_not_of_somebody_elses_package_of_our_name(folder: Path) -> None:
    command = Path(sys.executable).with_name("pgdl")
    if not command.exists():
        pytest.skip(f"the package is not installed beside {sys.executable}")
    done = program(command, "score", "--results", PYTHONPATH="")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Option '--results' requires an argument" in done.stderr
    for name in ("baselines", "scoring", "harness"):  # the reverse of the order in which they are looked for
        (folder / name).mkdir()
        (folder / name / "__init__.py").touch()
        done = program(command, "measures", PYTHONPATH=str(folder))
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
        assert f"{folder}/{name}/__init__.py: another package is called '{name}'" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_closed_stream_leads_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "told"
    command = [sys.executable, "-P", "-c", STREAMS, file]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *map(str, command)], cwd=ROOT, check=False)
    ours, theirs = file.read_text().split()[:3], file.read_text().split()[3:-1]
    assert (done.returncode, ours, theirs[0], theirs[-1]) == (0, [os.devnull] * 3, os.devnull, os.devnull)


def test_exit_codes(pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug keeps its traceback."""
    text = (ROOT / "docs" / "outcomes.md").read_text()
    for code in ("0", "1", "2", "3", "70", "130"):
        assert f"| {code} |" in text
        assert f"{code} " in EXIT_CODES
    monkeypatch.setattr(new.command, "callback", Mock(side_effect=KeyboardInterrupt))
    assert pgdl("new", "x") == (130, "", "pgdl: interrupted\n")
    monkeypatch.setattr(new.command, "callback", Mock(side_effect=ZeroDivisionError("oops")))
    ended = pgdl("new", "x")
    assert (ended.code, ended.err.partition("\n")[0]) == (70, "Traceback (most recent call last):")
    assert ended.err.endswith("ZeroDivisionError: oops\npgdl: this is a bug\n")


@pytest.mark.parametrize("ignored", [False, True])
def test_ctrl_c_while_modules_are_imported(ignored: bool) -> None:
    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL)

    with subprocess.Popen(
        [sys.executable, "-c", SLOW_IMPORT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        preexec_fn=prepare,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        if ignored:
            process.kill()
        assert process.stderr.read() == ("" if ignored else "pgdl: interrupted\n")
    assert process.returncode == (-signal.SIGKILL if ignored else 130)


OUTPUTS = (
    "ci --head main --output {}", "board --output {}", "board --html {}", "report --html {}", "overfit t --output {}",
    "invariance t --output {}", "testbed t --data d --output {}", "compare --recorded --output {}/table",
    "compare --measures num_params --output {}/table", "codabench collect c.toml exports --html {}",
)  # fmt: skip


@pytest.mark.usefixtures("known_shapes")
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_directory_that_cannot_be_made_or_written_is_refused_before_any_long_work(pgdl: Pgdl, folder: Path) -> None:
    (folder / "file").touch()
    for command in OUTPUTS:
        refusal = pgdl(*command.format("file/out").split()).refusal()
        assert refusal.startswith("pgdl: file/out: cannot be created: "), command
    for command in ("ci --head main --output {}", "report --html {}", "compare --output {}/table"):
        refusal = pgdl(*command.format("/proc/sys").split()).refusal()
        assert refusal.startswith("pgdl: /proc/sys: cannot be written: "), command
    make_task(folder)
    for place in ("file", "/proc/no"):
        recipe = ROOT / "task_data" / "recipes" / "digits_vgg.toml"
        assert "cannot be written" in pgdl("task", "build", recipe, "--output", place).refusal()
    assert "pgdl: /proc: cannot be written: " in pgdl("task", "show", ".", "--html", "/proc/page.html").refusal()


@pytest.mark.parametrize("command", ["ci --head main --output out", "board --html out/site"])
@pytest.mark.parametrize("name", ["mine.txt", ".git"])
def test_a_site_with_other_files_is_refused_first(command: str, name: str, pgdl: Pgdl, folder: Path) -> None:
    for file in ("data/site.json", "index.html", f"{name}/file"):
        (folder / "out/site" / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / "out/site" / file).touch()
    said = f"out/site: not only a site: expected no other files, found {name}; move it away, or name"
    assert said in pgdl(*command.split()).refusal()
    assert [file for file in ("index.html", f"{name}/file") if not (folder / "out/site" / file).exists()] == []


@pytest.mark.rest
def test_a_full_standard_output(folder: Path, record: Record) -> None:
    write_reference(folder / "task_data")
    record(rows("mine"))
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = program("-m", "pgdl", "board", output=full.fileno())
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "standard output, or a temporary file (TMPDIR): No space left on device" in done.stderr


@pytest.mark.parametrize("form", ["json", "table"])
def test_a_reader_that_has_seen_enough(form: str, record: Record) -> None:
    record([row for number in range(200) for row in rows(f"submission_{number}", output_tail="x" * 100)])
    read, write = os.pipe()
    os.close(read)
    done = program("-m", "pgdl", "results", "--format", form, output=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_locale_that_lacks_characters_and_an_interpreter_without_docstrings() -> None:
    done = program("-m", "pgdl", "help", "runtimes", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert " ? A measure may return a scalar tensor of the framework, on any device." in done.stdout
    done = program("-OO", "-c", "import pgdl", PYTHONPATH=str(ROOT / "harness" / "public"))
    assert done.stderr.splitlines()[-1].startswith("ImportError: the help and the formulas of pgdl are docstrings")


def test_limits_of_the_system_are_named(pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, remedy in (
        (OSError(errno.EMFILE, "Too many files"), "ulimit -n"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
        (OSError(errno.ENOSPC, "No space", "/a", None, "/b"), "/b: No space left on device; free some space"),
        (OSError(errno.EDQUOT, "No quota"), "Disk quota exceeded; free some space"),
        (OSError(errno.EACCES, "Permission denied", "tasks/input_data"), "tasks/input_data: Permission denied"),
    ):
        monkeypatch.setattr("harness.cli.main.LazyGroup.get_command", Mock(side_effect=error))
        assert remedy in pgdl("results").refusal()


@pytest.mark.rest
def test_a_task_is_validated_where_no_cache_can_be_written(
    pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(folder)
    monkeypatch.setenv("PGDL_CACHE", "/proc/none")
    ended = pgdl("task", "validate", ".")
    assert (ended.code, ended.err) == (0, "")
    assert os.environ["PGDL_CACHE"] == "/proc/none"
