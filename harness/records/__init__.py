"""Records: one row per call, written within a second of its end, and one per request."""

from harness.records.claims import Claims
from harness.records.evaluation import Evaluation
from harness.records.export import write_csv, write_json_lines, write_parquet
from harness.records.machines import machine_classes
from harness.records.merge import add_records
from harness.records.request import Request
from harness.records.store import Records
from harness.records.tables import columns_of
from harness.records.versions import cells_of, has_several_builds, newest_of_version, recorded_versions
from harness.records.writer import Writer

__all__ = [
    "Claims", "Evaluation", "Records", "Request", "Writer", "add_records", "cells_of", "columns_of",
    "has_several_builds", "machine_classes", "newest_of_version", "recorded_versions", "write_csv", "write_json_lines",
    "write_parquet",
]  # fmt: skip
