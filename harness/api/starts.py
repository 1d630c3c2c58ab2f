"""The functions `pgdl.demo`, `new` and `new_leaderboard`, which write the first files of a user."""

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UserError, require_one_of, writing
from harness.shipped import copy_files, shipped_directory
from harness.submission import write_files
from harness.submission.name import ALLOWED, is_name, taken
from harness.submission.template import template
from harness.task.demo import NAME, write_demo_task
from harness.worker.runtimes import DEFAULT, RUNTIMES

#: Directory of templates of README files: names in braces are replaced.
READMES = Path(__file__).parent / "readmes"

#: Content of .gitignore in a leaderboard's repository: output of commands, and compiled Python.
IGNORED = "/build/\n/results.db*\n/leaderboard/\n.venv/\n__pycache__/\n"

#: Pattern of the harness' address on GitHub. It names a commit, since the files of a branch or a tag may change.
_ADDRESS = re.compile(r"(?P<repository>[A-Za-z0-9-]+/[A-Za-z0-9._-]+)@(?P<commit>[0-9a-f]{40})")


def demo(directory: str | Path) -> int:
    """Write a small task and example submissions to an empty directory, and return the number of models.

    Raise `UserError` if the directory is not empty, or cannot be written.
    """
    target = Path(directory)
    with _filling(target, "pgdl demo DIR"):
        models = write_demo_task(shipped_directory("task_data"), target / "task_data")
        copy_files(shipped_directory("submissions"), target / "submissions")
        _write(target, {"README.md": _readme("demo", models=models, commands="\n".join(demo_commands()))})
    return models


def demo_commands() -> tuple[str, ...]:
    """Return commands to try in the directory of the demo, with the example for a framework that is installed.

    The measures of the library need TensorFlow. If no framework is installed, the commands are for TensorFlow.
    """
    runtime = _installed_runtime()
    example, measures = "submissions/input_gradient", " layer_margin_q1_l0 random"
    if runtime != DEFAULT:
        example, measures = f"{example}_{runtime}", ""
    return f"pgdl check {example}", f"pgdl run {example}{measures}", "pgdl board"


def new_leaderboard(directory: str | Path, harness: str) -> list[Path]:
    """Fill a directory with the files of a git repository that hosts a leaderboard; return its GitHub workflows.

    The workflows evaluate pull requests. The other files are a small task, an example of a submission, and a README
    that names the settings on GitHub.

    Args:
        directory: an empty or new directory.
        harness: the harness on GitHub, `OWNER/REPOSITORY@COMMIT`, with all 40 digits of the commit.

    Raises:
        UserError: `harness` has another form, or the directory is not empty or cannot be written.
    """
    address = _ADDRESS.fullmatch(harness)
    if address is None:
        expected = "the harness on GitHub as OWNER/REPOSITORY@COMMIT, with the 40 digits of the commit"
        raise UserError("--ci", expected=expected, found=harness)
    target = Path(directory)
    with _filling(target, "pgdl new DIR --ci ..."):
        models = write_demo_task(shipped_directory("task_data"), target / "task_data")
        text = _readme("leaderboard", models=models, harness=harness)
        workflows = _workflows(address["repository"], address["commit"])
        example = template("mean_margin", DEFAULT)
        _write(target, {"README.md": text, ".gitignore": IGNORED} | workflows)
        _write(target / "submissions" / "mean_margin", example)
    return [target / name for name in workflows]


def new(directory: str | Path, runtime: str | None = None) -> list[Path]:
    """Write a submission with a commented complexity.py and metadata, and return its files.

    Args:
        directory: a directory that does not exist; its name becomes the name of the submission.
        runtime: framework of the submission; None: TensorFlow, or another framework if only that is installed.

    Raises:
        UserError: the directory exists or cannot be created, or its name is not allowed for a submission.
    """
    target = Path(directory)
    if not is_name(target.name):
        raise UserError("not a valid name", file=target.name or "''", expected=ALLOWED, remedy="choose another")
    if owner := taken(target.name):
        raise UserError(f"cannot be called {target.name!r}: {owner}", remedy="choose another name")
    if runtime is not None:
        require_one_of("runtime", runtime, RUNTIMES)
    files = template(target.name, runtime or _installed_runtime())
    with writing(target, problem="cannot be created"):
        try:
            target.mkdir(parents=True)
        except FileExistsError as error:
            raise UserError("already exists", file=target, remedy="choose another name") from error
        with _removed_if_failed(target):
            _write(target, files)
    return [target / file for file in files]


def _installed_runtime() -> str:
    return next((name for name, runtime in RUNTIMES.items() if not runtime.missing()), DEFAULT)


def _readme(name: str, **values: object) -> str:
    return (READMES / f"{name}.md").read_text(encoding="utf-8").format(task=NAME, **values)


def _workflows(repository: str, commit: str) -> dict[str, str]:
    """Return path -> content of the harness' own workflows, changed to use the harness at `commit` of `repository`."""
    elsewhere = {
        "uses: ./.github/actions/leaderboard": f"uses: {repository}/.github/actions/leaderboard@{commit}",
        "repository: ${{ github.repository }}": f"repository: {repository}",
        "ref: ${{ github.sha }}": f"ref: {commit}",
    }
    found = {}
    for name in ("leaderboard.yml", "leaderboard-comment.yml"):
        text = (shipped_directory(".github/workflows") / name).read_text(encoding="utf-8")
        for own, other in elsewhere.items():
            text = text.replace(own, other)
        found[f".github/workflows/{name}"] = text
    return found


def _write(directory: Path, files: Mapping[str, str]) -> None:
    write_files({name: text.encode() for name, text in files.items()}, directory)


@contextmanager
def _filling(directory: Path, command: str) -> Iterator[None]:
    """Return a context for writing into a directory. Raise `UserError` if it is not empty, or if writing fails."""
    try:
        problem = "already exists and is not empty" if any(directory.iterdir()) else ""
    except FileNotFoundError:
        problem = ""
    except NotADirectoryError:
        problem = "not a directory"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    if problem:
        raise UserError(problem, file=directory, remedy=f"choose another directory: `{command}`")
    with writing(directory), _removed_if_failed(directory):
        yield


@contextmanager
def _removed_if_failed(directory: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:  # also Ctrl-C: the same command must work again
        shutil.rmtree(directory, ignore_errors=True)
        raise
