"""Digests of files and of code."""

import ast
import hashlib
import json
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from harness.reading import open_regular

#: CPython 3.11 counts the depth of syntax trees over all threads, and fails if two threads parse at once.
_PARSING = threading.Lock()

#: Nodes of a syntax tree that may have a docstring.
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

#: Fields of a syntax tree that do not affect the computation.
_IGNORED = {"ctx", "kind", "type_comment", "type_ignores"}


def digest_of(files: Iterable[tuple[str, bytes]]) -> str:
    """Return the SHA-256 (hex) over paths and contents of files. The order of `files` matters."""
    digest = hashlib.sha256()
    for path, content in files:
        digest.update(f"{len(path.encode())} {path} {len(content)} ".encode() + content)
    return digest.hexdigest()


def digest_of_file(file: Path) -> str:
    """Return the SHA-256 (hex) of a regular file's content; raises `UserError` if the file cannot be opened."""
    with open_regular(file, links=True) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def digest_of_code(*packages: Path) -> str:
    """Return the SHA-256 (hex) over all Python files that are directly in one of the directories `packages`."""
    files = [file for package in packages for file in sorted(package.glob("*.py"))]
    return digest_of((f"{file.parent.name}/{file.name}", file.read_bytes()) for file in files)


@cache
def code_of(source: bytes) -> bytes:
    """Return a digest of Python code without comments, docstrings and layout. Return any other content unchanged.

    The digest is the same in every version of Python, because empty fields of the syntax tree are left out. Fields that
    a newer version of Python adds are empty for older code.
    """
    try:
        with _PARSING:
            tree = ast.parse(source)
    except SyntaxError:
        return source
    content = json.dumps(_fields(tree), separators=(",", ":"))
    return hashlib.sha256(content.encode()).digest()


def _fields(value: Any) -> Any:
    """Convert a syntax tree to JSON, without empty fields."""
    if isinstance(value, ast.AST):
        fields = {name: child for name, child in ast.iter_fields(value) if name not in _IGNORED}
        if isinstance(value, _DOCUMENTED) and ast.get_docstring(value, clean=False) is not None:
            fields["body"] = value.body[1:]
        found = {name: _fields(child) for name, child in fields.items() if child is not None and child != []}
        return [type(value).__name__, found]
    return [_fields(one) for one in value] if isinstance(value, list) else repr(value)
