"""The results database: a record of each call of a submission on a model, and the requests of users for such calls."""

from harness.records.claims import Claims
from harness.records.evaluation import EVALUATIONS, Evaluation, Record, Request
from harness.records.merge import add_records
from harness.records.store import Records
from harness.records.unwritten import add_unwritten, has_unwritten
from harness.records.writer import RecordWriter

__all__ = [
    "EVALUATIONS", "Claims", "Evaluation", "Record", "RecordWriter", "Records", "Request", "add_records",
    "add_unwritten", "has_unwritten",
]  # fmt: skip

#: Modules that other packages of `harness` may import.
MODULES = ("export", "removal", "versions")
