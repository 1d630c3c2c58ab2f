"""Finds flaws in a measure's source without running it: a syntax error, or no function `complexity`."""

import ast
import os
import sys

from harness.inspector.limits import bound_process

#: Names with which a module can bind other names dynamically, invisible to the syntax tree.
DYNAMIC = {"exec", "eval", "globals", "locals", "vars", "setattr", "__dict__", "__getattr__"}

FUNCTION = "complexity"


def main() -> None:
    """Read a source from standard input, and write its flaw, if any, to standard output."""
    bound_process()
    with os.fdopen(0, "rb") as source, os.fdopen(1, "wb") as answer:
        answer.write(flaw_of(source.read()).encode())
    sys.stdout = None  # closed already


def flaw_of(source: bytes) -> str:
    """Return a flaw that makes every call fail; empty if none is found, or if the source is too complex to parse."""
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""  # null bytes have no line
        return f"{line}{error.msg}"
    except ValueError as error:
        return str(error)
    except (MemoryError, RecursionError):
        return ""
    if FUNCTION in _bound(module):
        return ""
    return f"expected a function {FUNCTION}(model, dataset), found none"


def _bound(module: ast.Module) -> set[str]:
    """Return the names that the module may bind; includes `FUNCTION` if that cannot be decided."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and (isinstance(node.ctx, ast.Store) or node.id in DYNAMIC):
            names.add(FUNCTION if node.id in DYNAMIC else node.id)
        elif isinstance(node, ast.alias):
            names.add(FUNCTION if node.name == "*" else node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Attribute) and node.attr in DYNAMIC:
            names.add(FUNCTION)
    return names
