"""The translations of PyTorch's operations, found in the files of `operations/`, each for a group of operations."""

import functools
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, TypeVar

#: From the translator and the operation's arguments by name to a `Value`, a list of values, or an array.
Translate = Callable[..., Any]

T = TypeVar("T", bound=Translate)

_TRANSLATIONS: dict[str, Translate] = {}


def translates(*names: str) -> Callable[[T], T]:
    """Register a function as the translation of operations of ATen, with all overloads and forms in place."""

    def register(function: T) -> T:
        for name in names:
            if name in _TRANSLATIONS:
                raise ValueError(f"two translations of {name}")
            _TRANSLATIONS[name] = function
        return function

    return register


@functools.cache
def translations() -> dict[str, Translate]:
    """Return all translations: name of the operation, without overload -> function."""
    from harness.torch_import import operations

    for module in pkgutil.iter_modules(operations.__path__):
        importlib.import_module(f"{operations.__name__}.{module.name}")
    return _TRANSLATIONS
