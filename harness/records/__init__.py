"""Records: one row per call, written as soon as it is known."""

from harness.records.evaluation import Evaluation
from harness.records.store import Records

__all__ = ["Evaluation", "Records"]
