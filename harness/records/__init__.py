"""Records: one row per call, written within a second of its end, and one per request."""

from harness.records.claims import Claims
from harness.records.evaluation import EVALUATIONS, REQUESTS, Evaluation, Record, Request
from harness.records.export import write_csv, write_json_lines, write_parquet
from harness.records.merge import add_records
from harness.records.removal import Removal, plan_removal
from harness.records.store import Records
from harness.records.tables import columns_of
from harness.records.versions import (
    RecordedCall,
    has_several_builds,
    machine_classes,
    newest_of_version,
    recorded_calls,
    recorded_versions,
)  # fmt: skip
from harness.records.writer import RecordWriter

__all__ = [
    "EVALUATIONS", "REQUESTS", "Claims", "Evaluation", "Record", "RecordWriter", "RecordedCall", "Records", "Removal",
    "Request", "add_records", "columns_of", "has_several_builds", "machine_classes", "newest_of_version",
    "plan_removal", "recorded_calls", "recorded_versions", "write_csv", "write_json_lines", "write_parquet",
]  # fmt: skip
