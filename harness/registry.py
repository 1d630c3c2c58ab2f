"""Siblings that are found by themselves: a package with one file for each."""

import importlib
import pkgutil
from typing import Any


def find_siblings(package: str, base: Any) -> dict[str, Any]:
    """Import all modules of a package; returns the subclasses of the class `base`, by their attribute `name`."""
    module = importlib.import_module(package)
    for entry in pkgutil.iter_modules(module.__path__):
        importlib.import_module(f"{package}.{entry.name}")
    found: dict[str, Any] = {}
    below = base.__subclasses__()
    while below:
        sibling = below.pop(0)
        found[sibling.name] = sibling
        below += sibling.__subclasses__()
    return found
