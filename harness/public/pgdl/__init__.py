"""Measures of generalization in deep learning: run, score and rank them, and compute them on a network of your own.

`__init__.pyi` lists the names of this package. A name is imported at its first use. The arguments below mean the same
in all functions that have them.

Args:
    tasks_dir: directory of the tasks.
    task_names: only these tasks; empty: all.
    models: number of models of each task, evenly spread from the smallest to the largest, or names; None: all.
    measures: names of measures, with or without parameters, families, costs, `all`, or `cheap`.
    results: database of the records: an SQLite file, or a URL.
    force: make recorded calls again.
    retry_timeouts: make recorded calls again that timed out while they had less than half of a processor.
    withhold: tasks whose results are withheld or rounded: `always` (all), `never` (none), or `auto` (hidden tasks).
    execution: limits, sandbox and executor of the calls.
    progress: shows the work.
"""

import ast
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

if sys.flags.optimize > 1:
    raise ImportError("the help and the formulas of pgdl are docstrings, which python -OO removes; use python -O")


def _read_places() -> dict[str, tuple[str, str]]:
    """Return public name -> (module, name in the module). For a module itself, the second text is ""."""
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
    from harness.extras import extras_named  # here: `import pgdl` alone takes milliseconds

    with extras_named():
        imported = importlib.import_module(module)
        found = getattr(imported, there) if there else imported
    return extras_named()(found) if inspect.isfunction(found) else found


def __dir__() -> list[str]:
    return sorted(_PLACES)
