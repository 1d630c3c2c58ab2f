"""Lets measures of 2020 import modules of the competition's ingestion program."""

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Names of the modules.
MODULES = ("data_io", "model_utils")


def import_modules() -> None:
    """Import `data_io` and `model_utils` with the active Keras."""
    for name in MODULES:
        importlib.import_module(f"{__name__}.{name}")


def offer_modules() -> None:
    """Let a submission import `data_io` and `model_utils`, unless it has modules of these names itself."""
    sys.meta_path.append(_Finder())


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MODULES else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = sys.modules[f"{__name__}.{module.__name__}"]
