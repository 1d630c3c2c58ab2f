"""`pgdl demo`: a small task and example submissions, from the package itself."""

from pathlib import Path

import click

from harness.errors import UserError, writing
from harness.printing import say
from harness.shell import typed

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

COMMANDS = (f"pgdl check {EXAMPLE}", f"pgdl run {EXAMPLE} random", "pgdl board")


@click.command("demo")
@click.argument("directory", metavar="[DIR]", default="pgdl-demo", type=click.Path(path_type=Path))
def command(directory: Path) -> None:
    """Write a small task and example submissions to DIR (default: pgdl-demo), to try the other commands on.

    Example: pgdl demo && cd pgdl-demo && pgdl check submissions/error_on_mixup
    """
    _require_empty(directory)
    with writing(directory):
        models = _lay_out(directory)
    say(f"Written to {directory}: a task of {models} models, and example submissions. Next:", "")
    enter = [] if directory.resolve() == Path.cwd() else [f"cd {typed(str(directory))}"]
    say(*(f"  {line}" for line in (*enter, *COMMANDS)))


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


def _lay_out(directory: Path) -> int:
    """Write everything; returns the number of models."""
    from harness import shipped
    from harness.task.demo import NAME, write_demo_task

    models = write_demo_task(shipped.task_data(), directory / "task_data")
    shipped.copy_files(shipped.submissions(), directory / "submissions")
    (directory / "README.md").write_bytes(
        README.format(task=NAME, models=models, commands="\n".join(COMMANDS)).encode()
    )
    return models
