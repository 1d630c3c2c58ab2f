"""The first files of a newcomer: a small task with example submissions, a submission, a leaderboard on GitHub."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UserError, writing
from harness.shipped import copy_files, shipped_directory
from harness.submission.name import ALLOWED, is_name, taken
from harness.submission.template import template
from harness.task.demo import NAME, write_demo_task
from harness.worker.runtimes import DEFAULT

EXAMPLE = "submissions/input_gradient"

README = """\
# A small task to try pgdl on

- `task_data/`: the task `{task}`, {models} trained networks on 8 x 8 images of digits;
- `submissions/`: example submissions, each with a `complexity.py`.

In this directory:

```sh
{commands}
```

`pgdl new my_measure` writes a template for your own measure; `pgdl measures` lists the built-in measures.

The board compares the example with one of the best measures of the library, and with `random`, whose values have
nothing to do with the networks: its score is the level of chance, which is not 0. These are few and small networks, so
only large differences between scores mean anything; a line below the board says how large.

The images are those of scikit-learn's `load_digits`: E. Alpaydin and C. Kaynak (1998), Optical Recognition of
Handwritten Digits, UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, licensed under CC BY 4.0
(https://creativecommons.org/licenses/by/4.0/). Changes: the pixels were divided by 16; the images were split into new
training and test sets and written as TFRecord files.
"""

LEADERBOARD = """\
# A leaderboard of complexity measures

A pull request that adds a file or folder to `submissions/` is evaluated on the tasks in `task_data/`, and gets its rank
as a comment. `mean_margin` is an example of a submission.

Once, on GitHub:

1. push these files to the branch `main` of a new public repository;
2. Settings, Pages, Source: GitHub Actions;
3. Settings, Secrets and variables, Actions, Variables: `PUBLISH_LEADERBOARD` with the value `true`;
4. Actions, leaderboard, Run workflow.

The last step makes the first board, and publishes it. So does every later push to `main` that changes `submissions/` or
`task_data/`. If a pull request reports that records are missing, run the workflow again.

`task_data/` holds a task to begin with, `{task}`: {models} small networks, too few to tell a good measure from a bad
one. Put your own tasks in its place. Rules, frameworks and measures of comparison are in
`.github/workflows/leaderboard.yml`. Both workflows use the harness at {harness}.

With pgdl-harness installed, the same two steps on this machine:

```sh
{commands}
```
"""

#: Files that git ignores in a leaderboard's repository: output of commands, and compiled Python.
IGNORED = "/build/\n/results.db*\n/leaderboard/\n.venv/\n__pycache__/\n"

#: Commands for the board of the main branch, and for the changes of a branch.
CI_COMMANDS = (
    "pgdl ci --head main",
    "pgdl ci --base main --head my-branch --require-check --output build/leaderboard",
)

#: The address of the harness on GitHub: its repository, at a commit, which nobody can move.
_ADDRESS = re.compile(r"(?P<repository>[A-Za-z0-9-]+/[A-Za-z0-9._-]+)@(?P<commit>[0-9a-f]{40})")

#: Commands to try in the directory of the demo.
COMMANDS = (f"pgdl check {EXAMPLE}", f"pgdl run {EXAMPLE} layer_margin_q1_l0 random", "pgdl board")


def demo(directory: str | Path) -> int:
    """Write a small task and example submissions to an empty directory, and return the number of models.

    Raises:
        UserError: the directory is not empty, or cannot be written.
    """
    target = Path(directory)
    _require_empty(target, "pgdl demo DIR")
    with writing(target), _removed_if_failed(target):
        models = write_demo_task(shipped_directory("task_data"), target / "task_data")
        copy_files(shipped_directory("submissions"), target / "submissions")
        text = README.format(task=NAME, models=models, commands="\n".join(COMMANDS))
        (target / "README.md").write_bytes(text.encode())
    return models


def new_leaderboard(directory: str | Path, harness: str) -> list[Path]:
    """Write a repository whose pull requests are evaluated on GitHub into an empty directory; returns its workflows.

    Beside the workflows it has a small task, an example of a submission, and a README that names the settings on
    GitHub.

    Args:
        directory: an empty directory, or one that does not exist.
        harness: the harness on GitHub, `OWNER/REPOSITORY@COMMIT`, where the commit has all 40 digits.

    Raises:
        UserError: the address has another form, the directory is not empty, or cannot be written.
    """
    address = _ADDRESS.fullmatch(harness)
    if address is None:
        expected = "the harness on GitHub as OWNER/REPOSITORY@COMMIT, with the 40 digits of the commit"
        raise UserError("--ci", expected=expected, found=harness)
    target = Path(directory)
    _require_empty(target, "pgdl new DIR --ci ...")
    with writing(target), _removed_if_failed(target):
        models = write_demo_task(shipped_directory("task_data"), target / "task_data")
        text = LEADERBOARD.format(task=NAME, models=models, harness=harness, commands="\n".join(CI_COMMANDS))
        files = {"README.md": text, ".gitignore": IGNORED} | _workflows(address["repository"], address["commit"])
        files |= {f"submissions/mean_margin/{file}": text for file, text in template("mean_margin", DEFAULT).items()}
        for name, content in files.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(content.encode())
    return [target / name for name in files if name.endswith(".yml")]


def _workflows(repository: str, commit: str) -> dict[str, str]:
    """Return the workflows of the harness' own leaderboard, by their paths, with the harness elsewhere."""
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


def _require_empty(directory: Path, command: str) -> None:
    """Raise `UserError` unless the directory is empty or does not exist."""
    remedy = f"choose another directory: `{command}`"
    try:
        if next(directory.iterdir(), None) is not None:
            raise UserError("already exists and is not empty", file=directory, remedy=remedy)
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise UserError("not a directory", file=directory, remedy=remedy) from error
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=directory, remedy=remedy) from error


@contextmanager
def _removed_if_failed(directory: Path) -> Iterator[None]:
    """If a file cannot be written, remove the directory, which was empty or missing: the same command works later."""
    try:
        yield
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def new(directory: str | Path, runtime: str | None = None) -> list[Path]:
    """Write a submission with a commented complexity.py and metadata, named like its directory; returns the files.

    Raises:
        UserError: the directory exists or cannot be created, or its name is not allowed for a submission.
    """
    target = Path(directory)
    if not is_name(target.name):
        raise UserError("not a valid name", file=target, expected=ALLOWED, remedy="choose another")
    if owner := taken(target.name):
        raise UserError(f"cannot be called {target.name!r}: {owner}", remedy="choose another name")
    files = template(target.name, runtime or DEFAULT)
    with writing(target, problem="cannot be created"):
        try:
            target.mkdir(parents=True)
        except FileExistsError as error:
            raise UserError("already exists", file=target, remedy="choose another name") from error
        with _removed_if_failed(target):
            for file, text in files.items():
                (target / file).write_bytes(text.encode())
    return [target / file for file in files]
