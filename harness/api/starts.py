"""The first files of a newcomer: a small task with example submissions, and the template of a submission."""

from pathlib import Path

from harness import shipped
from harness.errors import UserError, writing
from harness.submission.name import ALLOWED, is_name, taken
from harness.submission.template import template
from harness.task.demo import NAME, write_demo_task
from harness.worker.runtimes import DEFAULT

EXAMPLE = "submissions/error_on_mixup"

README = """\
# A small task to try pgdl on

- `task_data/`: the task `{task}`, {models} trained networks on 8 x 8 images of digits;
- `submissions/`: example submissions, each with a `complexity.py`.

In this directory:

```sh
{commands}
```

`pgdl new my_measure` writes a template for your own measure; `pgdl measures` lists the built-in measures.

These are few and small networks: the scores show how things work, not which measure is good.

The images are those of scikit-learn's `load_digits`: E. Alpaydin and C. Kaynak (1998), Optical Recognition of
Handwritten Digits, UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, licensed under CC BY 4.0
(https://creativecommons.org/licenses/by/4.0/). Changes: the pixels were divided by 16; the images were split into new
training and test sets and written as TFRecord files.
"""

#: To try in the directory of the demo.
COMMANDS = (f"pgdl check {EXAMPLE}", f"pgdl run {EXAMPLE} random", "pgdl board")


def demo(directory: str | Path) -> int:
    """Write a small task and example submissions to an empty directory, and return the number of models.

    Raises:
        UserError: the directory is not empty, or cannot be written.
    """
    target = Path(directory)
    _require_empty(target)
    with writing(target):
        models = write_demo_task(shipped.task_data(), target / "task_data")
        shipped.copy_files(shipped.submissions(), target / "submissions")
        text = README.format(task=NAME, models=models, commands="\n".join(COMMANDS))
        (target / "README.md").write_bytes(text.encode())
    return models


def _require_empty(directory: Path) -> None:
    """Raise `UserError` unless the directory is empty or does not exist."""
    remedy = "choose another directory: `pgdl demo DIR`"
    try:
        if next(directory.iterdir(), None) is not None:
            raise UserError("already exists and is not empty", file=directory, remedy=remedy)
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise UserError("not a directory", file=directory, remedy=remedy) from error
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=directory, remedy=remedy) from error


def new(directory: str | Path, runtime: str | None = None) -> list[Path]:
    """Write a submission with a commented complexity.py and metadata, named like its directory; returns the files.

    Raises:
        UserError: the directory exists or cannot be created, or no submission may have its name.
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
        for file, text in files.items():
            (target / file).write_bytes(text.encode())
    return [target / file for file in files]
