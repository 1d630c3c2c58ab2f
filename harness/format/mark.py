"""Whether a task is hidden: a file `metadata` that says so, beside the reference data, where no submission sees it."""

import reprlib
from collections.abc import Iterable
from pathlib import Path

import yaml

from harness.errors import UserError
from harness.format.layout import MARKS

MAX_BYTES = 64 * 1024

_BOOL = "tag:yaml.org,2002:bool"

_EXPECTED = "one line, `hidden: true` or `hidden: false`"


def find_marks(directories: Iterable[Path]) -> tuple[Path, ...]:
    """The marks that are there; a link that leads nowhere is one, too, and will be refused.

    Raises:
        UserError: one cannot tell; a task must not pass for unmarked because its mark is out of reach.
    """
    return tuple(path for directory in directories for name in MARKS if _is_there(path := directory / name))


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
        node = yaml.compose(content, Loader=yaml.SafeLoader)  # its nodes, of which no values are made
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UserError("not YAML", file=path, expected=_EXPECTED, found=" ".join(str(error).split())[:200]) from error
    if not isinstance(node, yaml.MappingNode):
        raise UserError("not a mark", file=path, expected=_EXPECTED, found=_written(node))
    keys = ", ".join(_written(key).strip("'") for key, _ in node.value)
    if keys != "hidden":
        raise UserError("keys", file=path, expected="hidden, once", found=reprlib.repr(keys) if keys else "nothing")
    value = node.value[0][1]
    said = yaml.SafeLoader.bool_values.get(value.value.lower()) if isinstance(value, yaml.ScalarNode) else None
    if said is None or value.tag != _BOOL:
        raise UserError("hidden", file=path, expected="true or false", found=_written(value))
    return said


def _written(node: yaml.Node | None) -> str:
    """What stands in the file in place of a mark."""
    if isinstance(node, yaml.ScalarNode):
        return reprlib.repr(node.value)
    return {type(None): "nothing", yaml.SequenceNode: "a list"}.get(type(node), "a mapping")
