"""The executors; each file has the name of its executor."""

from harness.execution.executor import Executor
from harness.registry import find_siblings

#: All executors by name.
EXECUTORS: dict[str, type[Executor]] = find_siblings(__name__, Executor)

__all__ = ["EXECUTORS"]
