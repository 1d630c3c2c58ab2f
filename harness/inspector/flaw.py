"""Finds flaws in a measure's code without running it: a syntax error, no function `complexity`, wrong parameters."""

import ast
import os
import sys

from harness.inspector.limits import bound_process

#: Names with which a module can define other names at run time, which the syntax tree does not show.
DYNAMIC = {"exec", "eval", "globals", "locals", "vars", "setattr", "__dict__", "__getattr__"}

#: Name of the function that a submission must define.
FUNCTION = "complexity"

#: How the harness calls the function, for messages.
EXPECTED = f"{FUNCTION}(model, dataset)"

#: Optional third parameter of the function, passed by name.
OPTIONAL = "program_dir"

#: Maximum number of names in a message.
MAX_NAMES = 5


def main() -> None:
    """Read code from standard input, and write its flaw, if any, to standard output."""
    bound_process()
    with os.fdopen(0, "rb") as source, os.fdopen(1, "wb") as answer:
        answer.write(flaw_of(source.read()).encode())
    sys.stdout = None  # already closed


def flaw_of(source: bytes) -> str:
    """Return a flaw that would make every call fail; "" if no flaw is found."""
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""  # there is no line for null bytes
        return f"{line}{error.msg}"
    except ValueError as error:
        return str(error)
    except (MemoryError, RecursionError):
        return ""
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    bindings = _bindings(module)
    if FUNCTION not in bindings:
        return f"expected a function {EXPECTED}, found {_listed([node.name for node in functions]) or 'none'}"
    name = _other_name(module)
    measures = [node for node in functions if node.name == name and not node.decorator_list]
    is_certain = bindings.count(FUNCTION) == bindings.count(name) == len(measures) == 1
    return _flaw_of_parameters(measures[0]) if is_certain else ""


def _other_name(module: ast.Module) -> str:
    """Return the name in a line `complexity = NAME`; without such a line, `complexity`."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=name)) if target == FUNCTION:
                return name
    return FUNCTION


def _flaw_of_parameters(function: ast.FunctionDef) -> str:
    """Return how parameters differ from `EXPECTED`; "" if calls may work, for example thanks to default values."""
    parameters = function.args
    names = [parameter.arg for parameter in parameters.posonlyargs + parameters.args]
    if parameters.vararg or parameters.kwonlyargs or parameters.defaults:
        return ""
    if len(names) > 1 and OPTIONAL not in names[:2] and names[2:] in ([], [OPTIONAL]):
        return ""
    return f"expected {EXPECTED}, found {function.name}({_listed(names)})"


def _listed(names: list[str]) -> str:
    more = ["..."] if len(names) > MAX_NAMES else []
    return ", ".join(names[:MAX_NAMES] + more)


def _bindings(module: ast.Module) -> list[str]:
    """Return all names that a module defines, with repetitions; `FUNCTION` for names known only at run time."""
    names: list[str] = []
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Name) and (isinstance(node.ctx, ast.Store) or node.id in DYNAMIC):
            names.append(FUNCTION if node.id in DYNAMIC else node.id)
        elif isinstance(node, ast.alias):
            names.append(FUNCTION if node.name == "*" else node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Attribute) and node.attr in DYNAMIC:
            names.append(FUNCTION)
    return names
