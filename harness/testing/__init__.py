"""Tests that every executor and every kind of sandbox must pass, for authors of new executors and kinds.

Importing this package registers `Actors`, a kind of sandbox for tests, whose workers are threads.
"""

from harness.testing.actors import Actors, Parts
from harness.testing.executor_contract import STAGE, ExecutorContract
from harness.testing.kind_contract import KindContract

__all__ = ["STAGE", "Actors", "ExecutorContract", "KindContract", "Parts"]
