"""Records: one row per call, written within a second of its end, and one per request."""

from harness.records.claims import Claims
from harness.records.evaluation import EVALUATIONS, REQUESTS, Evaluation, Record, Request
from harness.records.merge import add_records
from harness.records.store import Records
from harness.records.tables import columns_of
from harness.records.writer import RecordWriter

__all__ = [
    "EVALUATIONS", "REQUESTS", "Claims", "Evaluation", "Record", "RecordWriter", "Records", "Request", "add_records",
    "columns_of",
]  # fmt: skip

#: Modules for other rooms, beside the names above: formats of records, removal, and queries of boards.
MODULES = ("export", "removal", "versions")
