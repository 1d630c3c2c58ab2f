"""Registries: packages in which each module is an entry, such as a kind of sandbox. There is no list of entries."""

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """A parameter of an entry's constructor; on the command line, it is the option `--ENTRY-NAME`."""

    name: str
    metavar: str
    meaning: str
    default: str | None = None


def sibling_names(path: Iterable[str]) -> list[str]:
    """Return the names of a package's modules, sorted; nothing is imported. `path` is the package's `__path__`."""
    return sorted(module.name for module in pkgutil.iter_modules(path))


def find_siblings(package: str, base: Any) -> dict[str, Any]:
    """Import all modules of a package, and return their subclasses of `base`: the attribute `name` -> class."""
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
