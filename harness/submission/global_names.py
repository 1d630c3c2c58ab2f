"""The global names that Python code reads, as Python itself decides it."""

import dis
from collections.abc import Iterator
from types import CodeType

#: The instructions that read a name of the module or of the class that is being defined, and those that bind it there.
_READS = ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_BINDS = ("STORE_NAME", "DELETE_NAME")


def global_names(source: str) -> set[str]:
    """Return the global names that the source of a module reads and does not bind before, with Python's own (`len`).

    Arguments, local variables, attributes and the names of a class body are none of them, nor are words in comments
    and strings. Raises `SyntaxError` for source that is not valid Python.
    """
    return set(_read(compile(source, "<source>", "exec", dont_inherit=True)))


def _read(code: CodeType) -> Iterator[str]:
    bound: set[str] = set()
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        if instruction.opname in _BINDS:
            bound.add(name)
        elif instruction.opname == "LOAD_GLOBAL" or (instruction.opname in _READS and name not in bound):
            yield name
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _read(constant)
