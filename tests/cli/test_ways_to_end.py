"""Tests of exit codes, and of one-line errors for typing errors, full disks and places that cannot be written."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from in_process import Pgdl, Record

from harness.cli.main import EXIT_CODES
from tests.board.board_examples import rows, write_reference
from tests.throwaway import make_task

ROOT = Path(__file__).parents[2]


def program(
    *arguments: object, output: int = subprocess.PIPE, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run `python ARGUMENTS` in a process that imports the program from this checkout."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)], stdout=output, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["chekc", "x"], "no command 'chekc'; did you mean 'check'?"),
        (["Board"], "no command 'Board'; did you mean 'board'?"),
        (["qqqq"], "no command 'qqqq'; pgdl --help lists them"),
        (["measures", "VC_DIM"], "VC_DIM: no such measure; did you mean 'vc_dim'?"),
        (["check", "Jacobian_Norm"], "did you mean 'jacobian_norm'?"),
        (["board", "my_measure"], "for one submission: pgdl score my_measure, or pgdl report my_measure"),
        (["compare", "vc_dim"], "name measures with --measures vc_dim"),
        (["board", "--output", "x.tex"], "--output x writes x/leaderboard.tex and other formats, --format latex >"),
        (["compare", "--output", "x.tex"], "--output x writes x.tex and other files"),
        (["compare", "--output", "x.png"], "--output x writes x.png and other files"),
        (["compare", "--output", "."], "--output comparison writes into it"),
        (["run", "random", "--sandbox", "fresh", "--unsafe-no-sandbox"],
         "--unsafe-no-sandbox and --sandbox fresh contradict each other; leave one out"),
        (["run", "a.py", "--as", "a", "--as-files"], "--as and --as-files contradict each other; leave one out"),
    ],
)  # fmt: skip
def test_typing_errors_get_a_suggestion(arguments: list[str], hint: str, pgdl: Pgdl) -> None:
    assert hint in pgdl(*arguments).refusal()


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--time-limit", "1e10", "at most 2592000 (30 days)"),
        ("--workers", "10000", "expected a number from 1 to "),
        ("--memory", "900G", "to the machine's"),
        ("--memory", "1", "G, found 1 byte"),
        ("--seed", str(2**64), "is not in the range"),
        ("--seed", "-1", "is not in the range"),
    ],
)
def test_senseless_numbers_are_refused(option: str, value: str, problem: str, pgdl: Pgdl, folder: Path) -> None:
    make_task(folder / "task_data")
    assert problem in pgdl("run", "random", option, value).refusal()


@pytest.mark.parametrize("argument", ["x" * 300, "vc_dim:image_side=" + "1" * 300, "a/" + "y" * 300])
def test_an_argument_that_no_file_can_have(argument: str, pgdl: Pgdl, folder: Path) -> None:
    (folder / "a").mkdir()
    pgdl("run", argument).refusal()
    for command in (("board", "--tasks"), ("task", "show"), ("task", "build", "--output", "o")):
        assert ": File name too long" in pgdl(*command, "x" * 300).refusal()


OUTPUTS = (
    "ci --head main --output {}", "board --output {}", "board --html {}", "report --html {}", "overfit t --output {}",
    "invariance t --output {}", "testbed t --data d --output {}", "compare --recorded --output {}/table",
    "compare --measures num_params --output {}/table", "codabench collect c.toml exports --html {}",
)  # fmt: skip


@pytest.mark.parametrize("command", OUTPUTS)
def test_a_directory_that_cannot_be_made_is_refused_before_any_long_work(
    command: str, pgdl: Pgdl, folder: Path
) -> None:
    (folder / "file").touch()
    assert pgdl(*command.format("file/out").split()).refusal().startswith("pgdl: file/out: cannot be created: ")


@pytest.mark.usefixtures("known_shapes")
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_directory_that_cannot_be_written_is_refused(pgdl: Pgdl, folder: Path) -> None:
    for command in ("ci --head main --output {}", "report --html {}", "compare --output {}/table"):
        refusal = pgdl(*command.format("/proc/sys").split()).refusal()
        assert refusal.startswith("pgdl: /proc/sys: cannot be written: ")
    make_task(folder)
    (folder / "file").touch()
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


def test_a_bug_keeps_its_traceback_and_has_a_code_of_its_own(pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Mock(side_effect=ZeroDivisionError("oops"))
    monkeypatch.setattr("harness.cli.measure_tables.print_measures", broken)
    ended = pgdl("measures")
    assert (ended.code, ended.err.partition("\n")[0]) == (70, "Traceback (most recent call last):")
    assert "ZeroDivisionError: oops" in ended.err
    assert ended.err.endswith("pgdl: this is a bug\n")


def test_all_codes_are_documented() -> None:
    text = (ROOT / "docs" / "outcomes.md").read_text()
    for code in ("0", "1", "2", "3", "70", "130"):
        assert f"| {code} |" in text
        assert f"{code} " in EXIT_CODES


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


def test_a_locale_that_lacks_characters() -> None:
    done = program("-m", "pgdl", "help", "runtimes", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert " ? A measure may return a scalar tensor of the framework, on any device." in done.stdout


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (OSError(errno.EMFILE, "Too many files"), "ulimit -n"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
        (OSError(errno.ENOSPC, "No space", "/a", None, "/b"), "/b: No space left on device; free some space"),
        (OSError(errno.EDQUOT, "No quota"), "Disk quota exceeded; free some space"),
        (OSError(errno.EACCES, "Permission denied", "tasks/input_data"), "tasks/input_data: Permission denied"),
    ],
)
def test_limits_of_the_system_are_named(
    error: Exception, remedy: str, pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cli.main.LazyGroup.get_command", Mock(side_effect=error))
    assert remedy in pgdl("results").refusal()


def test_an_interpreter_without_docstrings() -> None:
    done = program("-OO", "-c", "import pgdl", PYTHONPATH=str(ROOT / "harness" / "public"))
    assert done.stderr.splitlines()[-1].startswith("ImportError: the help and the formulas of pgdl are docstrings")


@pytest.mark.parametrize("name", ["baselines", "harness", "scoring"])
def test_somebody_elses_package_of_our_name(name: str, folder: Path) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").touch()
    done = program(Path(sys.executable).with_name("pgdl"), "measures", PYTHONPATH=f"{folder}:{ROOT}")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert f"{folder}/{name}/__init__.py: another package is called '{name}'" in done.stderr


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


@pytest.mark.rest
def test_a_task_is_validated_where_no_cache_can_be_written(
    pgdl: Pgdl, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(folder)
    monkeypatch.setenv("PGDL_CACHE", "/proc/none")
    ended = pgdl("task", "validate", ".")
    assert (ended.code, ended.err) == (0, "")
    assert os.environ["PGDL_CACHE"] == "/proc/none"
