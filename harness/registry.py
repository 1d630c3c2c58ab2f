"""Finds the entries of a registry: a package of which each module defines an entry."""

import importlib
import pkgutil
from collections.abc import Iterable
from typing import Any


def sibling_names(path: Iterable[str]) -> list[str]:
    """Return the sorted names of a package's modules, without importing them; `path` is the package's `__path__`."""
    return sorted(module.name for module in pkgutil.iter_modules(path))


def find_siblings(package: str, base: Any) -> dict[str, Any]:
    """Import all modules of a package, and return name -> subclass of `base` for the subclasses defined there.

    The key is the attribute `name` of the subclass.
    """
    module = importlib.import_module(package)
    for name in sibling_names(module.__path__):
        importlib.import_module(f"{package}.{name}")
    found: dict[str, Any] = {}
    below = base.__subclasses__()
    while below:
        sibling = below.pop(0)
        if sibling.__module__.startswith(f"{package}."):
            found[sibling.name] = sibling
        below += sibling.__subclasses__()
    return found
