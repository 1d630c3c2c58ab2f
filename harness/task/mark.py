"""Whether a task is hidden: a file `metadata` that says so, beside the reference data, where no submission sees it."""

import reprlib
from collections.abc import Iterable
from pathlib import Path

import yaml

from harness.errors import UserError

#: The names under which a mark is looked for; any of them counts, so that no ending unmarks a task.
FILE_NAMES = ("metadata", "metadata.yaml", "metadata.yml")

MAX_BYTES = 64 * 1024

_EXPECTED = "one line, `hidden: true` or `hidden: false`"


def find_marks(directories: Iterable[Path]) -> tuple[Path, ...]:
    """The marks that are there; a link that leads nowhere is one, too, and will be refused.

    Raises:
        UserError: one cannot tell; a task must not pass for unmarked because its mark is out of reach.
    """
    return tuple(path for directory in directories for name in FILE_NAMES if _is_there(path := directory / name))


def is_hidden(marks: Iterable[Path]) -> bool:
    """Whether any of the files says so; no file says no.

    Raises:
        UserError: a file holds anything else than `hidden: true` or `hidden: false`.
    """
    said = [_read(path) for path in marks]  # all of them: a mistake in one is never passed over
    return True in said


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise UserError("cannot tell whether the task is hidden", file=path, found=error.strerror) from error
    return True


def _read(path: Path) -> bool:
    """Strict: what is misspelt must not leave a task unmarked."""
    if not path.is_file():
        raise UserError("not a mark", file=path, expected="a file", found="a directory" if path.is_dir() else "nothing")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError("cannot be read", file=path, found=error.strerror) from error
    if len(content) > MAX_BYTES:
        raise UserError("not a mark", file=path, expected=_EXPECTED, found=f"more than {MAX_BYTES} bytes")
    try:
        node = yaml.compose(content, Loader=yaml.SafeLoader)
        values = yaml.safe_load(content)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UserError("not YAML", file=path, expected=_EXPECTED, found=" ".join(str(error).split())[:200]) from error
    if not isinstance(values, dict):
        found = "nothing" if values is None else reprlib.repr(values)
        raise UserError("not a mark", file=path, expected=_EXPECTED, found=found)
    keys = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else list(values)
    if keys != ["hidden"]:
        found = reprlib.repr(", ".join(map(str, keys))) if keys else "nothing"
        raise UserError("keys", file=path, expected="hidden, once", found=found)
    if not isinstance(values["hidden"], bool):
        raise UserError("hidden", file=path, expected="true or false", found=reprlib.repr(values["hidden"]))
    return values["hidden"]
