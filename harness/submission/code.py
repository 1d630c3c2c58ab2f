"""What Python code computes, apart from how it is written."""

import ast
import functools
import hashlib
import json
from typing import Any

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

#: Fields of a syntax tree that say nothing of what it computes.
_IGNORED = {"ctx", "kind", "type_comment", "type_ignores"}


@functools.cache
def code_of(source: bytes) -> bytes:
    """Return a digest of Python code that comments, docstrings and layout do not change; what is no code is kept.

    It is that of the syntax tree, and the same in every Python that reads the code: what a later version adds to a tree
    is empty in code of an earlier one.
    """
    try:
        tree = json.dumps(_fields(ast.parse(source)), separators=(",", ":"))
    except SyntaxError:
        return source
    return hashlib.sha256(tree.encode()).digest()


def _fields(value: Any) -> Any:
    """Return a syntax tree as JSON, without empty fields."""
    if isinstance(value, ast.AST):
        fields = {name: child for name, child in ast.iter_fields(value) if name not in _IGNORED}
        if isinstance(value, _DOCUMENTED) and ast.get_docstring(value, clean=False) is not None:
            fields["body"] = value.body[1:]
        found = {name: _fields(child) for name, child in fields.items() if child is not None and child != []}
        return [type(value).__name__, found]
    return [_fields(one) for one in value] if isinstance(value, list) else repr(value)
