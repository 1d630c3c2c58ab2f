"""The engines that run calls, one per file."""

import importlib
import pkgutil

from harness.execution.executors.executor import Done, Executor

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

#: All executors by name.
EXECUTORS: dict[str, type[Executor]] = {executor.name: executor for executor in Executor.__subclasses__()}

__all__ = ["EXECUTORS", "Done", "Executor"]
