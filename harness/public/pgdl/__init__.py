"""Measures of generalization in deep learning: run, score and rank them, and compute them on a network of your own.

The names stand in `__init__.pyi`, where editors and type checkers read them, too. A name is imported at its first use.
"""

import ast
import importlib
import inspect
from pathlib import Path
from typing import Any


def _read_places() -> dict[str, tuple[str, str]]:
    """Return where each name comes from: name -> module, and the name there; the module itself if that is empty."""
    places: dict[str, tuple[str, str]] = {}
    imported: dict[str, tuple[str, str]] = {}
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(line, ast.Import):
            places |= {alias.asname or alias.name: (alias.name, "") for alias in line.names}
        elif isinstance(line, ast.ImportFrom):
            for alias in line.names:
                (places if alias.asname else imported)[alias.name] = str(line.module), alias.name
        elif isinstance(line, ast.Assign):
            places[ast.unparse(line.targets[0])] = imported[ast.unparse(line.value)]
    return places


_PLACES = _read_places()


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, there = _PLACES[name]
    from harness.extras import extras_named  # here: who only imports pgdl waits for nothing

    with extras_named():
        imported = importlib.import_module(module)
        found = getattr(imported, there) if there else imported
    return extras_named()(found) if inspect.isfunction(found) else found


def __dir__() -> list[str]:
    return sorted(_PLACES)
