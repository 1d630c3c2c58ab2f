"""What can be said against a measure's source without running it: it is no Python, or has no function `complexity`."""

import ast
import os
import sys

from harness.inspector.limits import bound_process

#: Names by which a module can make others without a statement that shows it.
DYNAMIC = {"exec", "eval", "globals", "locals", "vars", "setattr", "__dict__", "__getattr__"}

FUNCTION = "complexity"


def main() -> None:
    """Read a source on standard input, and write its flaw, if any, on standard output."""
    bound_process()
    with os.fdopen(0, "rb") as source, os.fdopen(1, "wb") as answer:
        answer.write(flaw_of(source.read()).encode())
    sys.stdout = None  # closed already


def flaw_of(source: bytes) -> str:
    """Return a flaw that makes every call fail; empty text if none is seen, or it is too much to look at."""
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        return f"complexity.py: line {error.lineno}: {error.msg}"
    except ValueError as error:  # null bytes, of which it is said so
        return f"complexity.py: {error}"
    except (MemoryError, RecursionError):
        return ""
    if FUNCTION in _bound(module):
        return ""
    return f"complexity.py: expected a function {FUNCTION}(model, dataset), found none"


def _bound(module: ast.Module) -> set[str]:
    """Names that the module may bind; `FUNCTION` is among them if that cannot be told."""
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
