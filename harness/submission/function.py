"""Makes a submission from a Python function: from its source, and the source of the global objects that it uses."""

import ast
import builtins
import cmath
import dis
import inspect
import reprlib
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from harness.credentials import may_be_secret
from harness.errors import UserError
from harness.names import FUNCTION
from harness.submission.name import clean, require_name, taken
from harness.submission.submission import Submission
from harness.text import without_passwords

#: Name of the function that the harness calls.
MEASURE = "complexity"

#: Types of values that can be written as source.
_PLAIN = (bool, int, float, complex, str, bytes, type(None))

_REMEDY = "define it in the function, or hand in a file"

#: Shortens long values in notes.
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 40

#: Bytecode instructions at the top of a module or class that read a name, or bind a name.
_READS = ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_BINDS = ("STORE_NAME", "DELETE_NAME")


def from_function(
    function: Callable[..., Any], name: str | None = None, note: Callable[[str], None] = lambda _: None
) -> Submission:
    """Return the submission of a function `complexity(model, dataset)`, for instance of a notebook.

    The submission contains the source of the function, and of all functions, classes and plain values that the function
    reads as global names. It imports the installed modules that the function uses. The default of `name` is the
    function's name. `note` receives a line that lists the copied values.

    Raises:
        UserError: the function has no source, it reads a value that cannot be copied or may be a secret, or the name is
            taken.
    """
    if not isinstance(function, FunctionType) or not function.__name__.isidentifier():  # a lambda's name is <lambda>
        raise UserError("a submission", expected="a function defined with def, a path or a name", found=repr(function))
    chosen = clean(function.__name__) if name is None else name
    require_name(chosen)
    if owner := taken(chosen):
        raise UserError(f"cannot be called {chosen!r}: {owner}", remedy="give it another name")
    source = _Source()
    source.add(function.__name__, function)
    if source.values:
        note(f"{chosen} contains copies of: {', '.join(source.values)}")
    if function.__name__ != MEASURE:
        source.parts.append(f"{MEASURE} = {function.__name__}\n")
    return Submission(chosen, {"complexity.py": source.text.encode()}, source=FUNCTION + function.__qualname__)


class _Source:
    """The source of the module that is generated for a function. Every name is defined before it is used."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.values: list[str] = []
        self._known: dict[str, Any] = {}

    @property
    def text(self) -> str:
        return "\n\n".join(self.parts)

    def add(self, name: str, value: Any) -> None:
        """Add the definition or import of the object `value` under its name, unless the module already has it."""
        if name in self._known:
            if self._known[name] is not value:
                raise UserError(f"{name}: names two different objects in these functions", remedy="rename one")
            return
        self._known[name] = value
        if isinstance(value, ModuleType):
            if not _is_installed(value):
                raise UserError(f"{name}: is not an installed module", remedy="hand in a directory that contains it")
            self.parts.insert(0, f"import {value.__name__} as {name}")
        elif _is_imported(value):
            self.parts.insert(0, f"from {value.__module__} import {value.__name__} as {name}")
        elif isinstance(value, FunctionType | type):
            self._add_defined(name, value)
        else:
            self._add_value(name, value)

    def _add_value(self, name: str, value: Any) -> None:
        plain = value.item() if isinstance(value, np.generic) else value
        if type(plain) not in _PLAIN:
            raise UserError(f"{name}: a {type(value).__name__} cannot come with a function", remedy=_REMEDY)
        if may_be_secret(name) or (isinstance(plain, str) and without_passwords(plain) != plain):
            remedy = "if it is no secret, give it another name, or define it in the function"
            raise UserError(f"{name}: may be a secret, and would come with the function", remedy=remedy)
        self.parts.append(f"{name} = {_source_of(name, plain)}")
        self.values.append(f"{name} = {_SHOWN.repr(plain)}")

    def _add_defined(self, name: str, value: FunctionType | type) -> None:
        """Add the source of a function or class, after the definitions of the global names that it reads."""
        if isinstance(value, FunctionType) and value.__closure__:
            inside = ", ".join(value.__code__.co_freevars)
            raise UserError(f"{name}: uses variables of the function around it ({inside})", remedy=_REMEDY)
        try:
            text = textwrap.dedent(inspect.getsource(value))
            (definition,) = ast.parse(text).body
        except (OSError, TypeError, SyntaxError, ValueError) as error:
            raise UserError(f"{name}: its source cannot be found", remedy="hand in a file") from error
        if not isinstance(definition, ast.FunctionDef | ast.ClassDef) or definition.name != name:
            raise UserError(name, expected="a definition with def or class of this name", found=text.strip()[:80])
        module = inspect.getmodule(value)
        given = value.__globals__ if isinstance(value, FunctionType) else vars(module)
        used = set(_global_names(compile(text, "<source>", "exec", dont_inherit=True))) - {name}
        for other in sorted(used & given.keys() - vars(builtins).keys()):
            self.add(other, given[other])
        self.parts.append(text)


def _source_of(name: str, value: Any) -> str:
    if isinstance(value, float | complex) and not cmath.isfinite(value):
        return f"{type(value).__name__}({str(value)!r})"
    try:
        return repr(value)
    except ValueError as error:
        raise UserError(f"{name}: a number of that many digits cannot come with a function", remedy=_REMEDY) from error


def _is_imported(value: Any) -> bool:
    """Whether an object can be imported: an installed module has it under the object's `__name__`."""
    module = inspect.getmodule(value)
    return module is not None and _is_installed(module) and vars(module).get(getattr(value, "__name__", "")) is value


def _is_installed(module: ModuleType) -> bool:
    """Whether a module belongs to Python or an installed package, so that every sandbox can import it."""
    if module.__name__ in sys.builtin_module_names:
        return True
    if module.__name__ == "__main__":  # a notebook or a script
        return False
    origin = getattr(module, "__file__", None)
    places = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    return origin is not None and any(Path(origin).is_relative_to(place) for place in places)


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the global names and builtins that code reads, without names that the code has assigned before."""
    bound: set[str] = set()
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        if instruction.opname in _BINDS:
            bound.add(name)
        elif instruction.opname == "LOAD_GLOBAL" or (instruction.opname in _READS and name not in bound):
            yield name
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)
