"""Reads untrusted files, and recognizes files of a wrong kind, such as gzip files, by their first bytes.

The error message then names the kind and a remedy. It does not quote the file, which may be private.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness import parsing
from harness.errors import UserError, writing
from harness.inspector.files import is_leftover
from harness.reading import is_missing, read_regular

#: Maximum size of a JSON file in bytes; the hyperparameters of thousands of models take a few MB.
MAX_JSON = 32 * 1024**2

#: Number of first bytes that identify the kind of a file.
START = 64

#: For messages: code that exports a PyTorch network. Without `clone`, the file would contain all images.
EXPORT = "torch.export.save(torch.export.export(module.eval(), (images[:2].clone(),)), 'model.pt2')"

#: Name of a member by which a zip archive is recognized as a pickle of PyTorch.
TORCH = "data.pkl"
_TORCH = ("a pickle of PyTorch (weights, a module or TorchScript), which is never loaded", f"{EXPORT} writes a network")

#: First bytes of a file -> its kind, and a remedy.
_KINDS = {
    b"\x1f\x8b": ("a file compressed with gzip", "decompress it (gunzip)"),
    b"BZh": ("a file compressed with bzip2", "decompress it (bunzip2)"),
    b"\xfd7zXZ": ("a file compressed with xz", "decompress it (unxz)"),
    b"\x28\xb5\x2f\xfd": ("a file compressed with zstd", "decompress it (unzstd)"),
    b"version https://git-lfs": ("a pointer of Git LFS", "git lfs pull fetches the file itself"),
    b"/annex/objects/": ("a pointer of git-annex", "git annex get fetches the file itself"),
    b"<!doctype html": ("a web page", "download the file itself"),
    b"<html": ("a web page", "download the file itself"),
    b"\x80\x02": _TORCH,
}


def natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key with which model_2 comes before model_10. Different names have different keys."""
    parts = [(part, part.lstrip("0")) for part in re.split(r"([0-9]+)", name)]
    key = [(len(number), number) if re.fullmatch("[0-9]+", part) else (-1, part) for part, number in parts]
    return [*key, (-1, name)]  # model_1 and model_01: otherwise, the file system would decide


def visible_directories(directory: Path) -> list[Path]:
    """Return visible subdirectories except `__pycache__`, sorted with model_2 before model_10.

    The result is [] if `directory` is missing.
    """
    if not directory.is_dir():
        return []
    found = [path for path in directory.iterdir() if path.is_dir()]
    found = [path for path in found if not path.name.startswith(".") and not is_leftover(path.name)]
    return sorted(found, key=lambda path: natural(path.name))


@contextmanager
def located(where: Path | str) -> Iterator[None]:
    """Put `where`, a file or a position in it, before the message of any `UserError` raised in the context."""
    try:
        yield
    except UserError as error:
        raise UserError(str(error), file=where) from error


def make_directory(directory: Path) -> Path:
    """Create a directory and return it; raises `UserError` if that fails."""
    with writing(directory, problem="cannot be created"):
        directory.mkdir(parents=True, exist_ok=True)
    return directory


@contextmanager
def lasting_if_filled(directory: Path) -> Iterator[None]:
    """Create a directory and its missing parents. At the end of the context, remove new directories that are empty."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for path in missing:
            with suppress(OSError):  # the directory is not empty, or was not created
                path.rmdir()


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; raises `UserError` if it is missing, too large, invalid, or repeats a key."""
    return parse_json(read_regular(require_file(path), MAX_JSON, links=True), path)


def parse_json(text: str | bytes, path: Path) -> dict[str, Any]:
    """Return the object in a JSON text from `path`; raises `UserError` if it is invalid, or repeats a key."""
    try:
        content = parsing.parse_json(text, object_pairs_hook=_distinct_keys, parse_int=_number)
    except _RepeatedKeyError as error:
        raise UserError("repeated key", file=path, expected="distinct keys", found=f"{error} twice") from error
    except ValueError as error:
        start = text[:START].encode() if isinstance(text, str) else text[:START]
        require_own_kind("not JSON", start, file=path, expected="a JSON object")
        raise UserError("not JSON", file=path, expected="a JSON object", found=error) from error
    if not isinstance(content, dict):
        raise UserError("not a JSON object", file=path, expected="an object", found=kind(content))
    return content


def leaves(content: Any) -> Iterator[Any]:
    """Yield the keys of all objects in parsed JSON, and all values that are neither an object nor a list."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        else:
            yield value


def require_whole_text(value: Any, path: Path) -> None:
    """Raise `UserError` if a value is text with half of a surrogate pair, which UTF-8 cannot encode."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            found = ascii(value)[:40]
            raise UserError("a text", file=path, expected="whole characters", found=found) from error


def require_file(path: Path) -> Path:
    """Return `path`; raises `UserError` if nothing is there."""
    if is_missing(path):
        raise UserError("missing", file=path, expected="a file", found="nothing", remedy="copy the whole task again")
    return path


def kind(value: object) -> str:
    """Return the type of a JSON value for messages, such as `a list`."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    names = {dict: "an object", list: "a list", str: "text", int: "a number", float: "a number"}
    return names.get(type(value), type(value).__name__)


def _number(text: str) -> float:
    """Return the integer in a JSON text; infinity if it has more digits than Python can convert."""
    try:
        return int(text)
    except ValueError:
        return float(text)


class _RepeatedKeyError(Exception):
    """A JSON object has a key twice; Python would silently use the last value."""


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(repr(next(key for key in keys if keys.count(key) > 1)))
    return members


def kind_of(start: bytes) -> tuple[str, str] | None:
    """Return (kind, remedy) if `start`, a file's first bytes, shows a wrong kind such as a web page; otherwise None."""
    begins = start.removeprefix(BOM_UTF8).lstrip().lower()
    return next((said for beginning, said in _KINDS.items() if begins.startswith(beginning.lower())), None)


def require_own_kind(what: str, start: bytes, *, file: Path | None, expected: str) -> None:
    """Raise `UserError` if `start`, a file's first bytes, shows a wrong kind of file."""
    if kind_of(start):
        raise other_kind(what, start, file=file, expected=expected)


def other_kind(what: str, start: bytes, *, file: Path | None, expected: str, remedy: str | None = None) -> UserError:
    """Return an error for a file with the wrong first bytes `start`; `remedy` is for kinds unknown to `kind_of`."""
    otherwise = ("a file that starts otherwise" if start else "an empty file", remedy)
    found, to_do = kind_of(start) or otherwise
    return UserError(what, file=file, expected=expected, found=found, remedy=to_do)


def refuse_torch(names: list[str]) -> None:
    """Raise `UserError` if a zip archive with the members `names` is a pickle of PyTorch."""
    if any(name.rpartition("/")[2] == TORCH for name in names):
        found, remedy = _TORCH
        raise UserError(
            "another kind of archive", expected="one of Keras, NumPy or torch.export (.pt2)", found=found, remedy=remedy
        )
