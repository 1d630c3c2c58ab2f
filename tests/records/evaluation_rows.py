"""Makes records of calls that never ran."""

import hashlib
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Table

from harness.board.versions import configuration_of
from harness.outcome import Outcome
from harness.records.evaluation import EVALUATIONS, REQUESTS, Evaluation, Request

#: When all calls were made.
NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


def evaluation(**columns: Any) -> Evaluation:
    """Return the record of a successful call, changed by `columns`. Without a given key, equal calls share a key.

    A column that is not named here is empty or 0, so that a new column needs no change of tests.
    """
    row: dict[str, Any] = {
        "submission": "margin",
        "submission_digest": "d1",
        "is_baseline": False,
        "task": "toy",
        "model": "model_0",
        "model_digest": "m0",
        "data_digest": "t0",
        "repeat": 0,
        "outcome": Outcome.OK,
        "value": 1.0,
        "message": "",
        "startup_wall_s": 2.5,
        "load_wall_s": 0.5,
        "load_cpu_s": 3.0,
        "call_wall_s": 1.5,
        "call_cpu_s": 1.25,
        "peak_memory_bytes": 700_000_000,
        "time_limit_s": 300.0,
        "time_budget": "each",
        "memory_limit_bytes": 4 * 1024**3,
        "run_seed": 0,
        "seed": 0,
        "runtime": "tensorflow",
        "sandbox": "bubblewrap",
        "versions": "keras 3.12.0, numpy 2.3.5",
        "harness_version": "0.1.0",
        "loader": "",
        "environment": {},
        "output_tail": "",
        "started_at": NOW,
        "finished_at": NOW + timedelta(seconds=5),
    } | columns
    if row["outcome"] != Outcome.OK:
        row["value"] = columns.get("value")
    configuration = configuration_of(SimpleNamespace(**row)).id
    call = [
        row[name]
        for name in ("submission", "submission_digest", "task", "model", "model_digest", "data_digest", "repeat")
    ]
    key = hashlib.sha256(repr([*call, configuration]).encode()).hexdigest()
    return Evaluation(**empty(EVALUATIONS) | {"key": key, "configuration": configuration} | row)


def empty(table: Table) -> dict[str, Any]:
    """Return a row of empty values: None, or the smallest value of the column's type."""
    found: dict[str, Any] = {}
    for column in table.columns:
        kind = column.type.python_type
        if not column.primary_key:
            found[column.name] = None if column.nullable else NOW if kind is datetime else kind()
    return found


def request(row: Evaluation, **columns: Any) -> Request:
    """Return the request of the run that made the record `row`, changed by `columns`."""
    return Request(
        **empty(REQUESTS) | {
            "submission": row.submission, "submission_digest": row.submission_digest, "source": "/home/a/margin",
            "is_baseline": row.is_baseline, "task": row.task, "configuration": row.configuration,
            "settings": configuration_of(row).to_json(), "deterministic": False,
            "requested_at": datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        } | columns
    )  # fmt: skip
