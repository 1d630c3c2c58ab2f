"""Parses untrusted JSON and TOML. Depth, number of values, and number of digits are limited.

`harness.reading` limits the number of bytes. This module imports only the standard library.
"""

import json
import re
import tomllib
from typing import Any, TypeVar

#: The byte order mark, which editors on Windows write at the beginning of a text.
BOM = "\ufeff"

#: Maximum depth; maximum number of values, each of which takes about 100 bytes of memory.
MAX_DEPTH, MAX_VALUES = 200, 3_000_000

#: Maximum number of parts of a key in TOML. Python's parser takes time that grows with the square of this number.
MAX_PARTS = 100

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_PARTS}}}")

Content = TypeVar("Content")


def parse_json(text: str | bytes, **hooks: Any) -> Any:
    """Return the content of a JSON text. Raise `ValueError` if it is invalid or exceeds a limit.

    `hooks` are hooks of `json.loads`. An integer of more than 4,300 digits is an error unless a hook parses it.
    """
    if isinstance(text, str):
        text = text.removeprefix(BOM)
        lists, objects, commas = (text.count(mark) for mark in "[{,")
    else:
        lists, objects, commas = (text.count(mark) for mark in b"[{,")
    if lists + objects + commas > MAX_VALUES:
        raise ValueError(f"more than {MAX_VALUES} values")
    try:
        content = json.loads(text, **hooks)
    except RecursionError as error:
        raise _too_deep() from error
    return require_shallow(content) if lists + objects > MAX_DEPTH else content


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML text. Raise `ValueError` if it is invalid or exceeds a limit."""
    text = text.removeprefix(BOM)
    if _LONG_KEY.search(text):
        raise ValueError(f"a key of more than {MAX_PARTS} parts")
    try:
        content = tomllib.loads(text)
    except RecursionError as error:
        raise _too_deep() from error
    return require_shallow(content)


def require_shallow(content: Content) -> Content:
    """Return the content. Raise `ValueError` if lists and dictionaries in it are deeper than `MAX_DEPTH`."""
    level: list[Any] = [content]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _members(outer)]
        if not level:
            return content
    raise _too_deep()


def _members(outer: Any) -> list[Any]:
    values = outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
    return [value for value in values if isinstance(value, dict | list)]


def _too_deep() -> ValueError:
    return ValueError(f"nested deeper than {MAX_DEPTH} levels")
