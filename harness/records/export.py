"""Writes records as CSV, JSON lines and parquet, with all columns of the table `evaluations`."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any, BinaryIO

from sqlalchemy import JSON, BigInteger, Boolean, Float, Integer

from harness.records.evaluation import EVALUATIONS, Evaluation
from harness.records.keys import in_groups
from harness.records.tables import UtcDateTime
from harness.text import not_a_formula

COLUMNS = list(EVALUATIONS.columns)


def write_csv(rows: Iterable[Evaluation], stream: BinaryIO) -> None:
    """Write a CSV table with a header. Text that a spreadsheet would read as a formula gets an apostrophe in front."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in COLUMNS])
    for row in rows:
        writer.writerow([_cell(getattr(row, column.name)) for column in COLUMNS])
    text.detach()


def write_json_lines(rows: Iterable[Evaluation], stream: BinaryIO) -> None:
    """Write a line with a JSON object for each record; times are ISO 8601."""
    for row in rows:
        content = {column.name: _plain(getattr(row, column.name)) for column in COLUMNS}
        stream.write(json.dumps(content, allow_nan=False).encode() + b"\n")


def write_parquet(rows: Iterable[Evaluation], stream: BinaryIO) -> None:
    """Write a parquet table whose columns have the types of the database; the column `environment` is JSON text."""
    import pyarrow as pa
    from pyarrow import parquet

    kinds = ((UtcDateTime, pa.timestamp("us", tz="UTC")), (Boolean, pa.bool_()), (BigInteger, pa.int64()),
             (Integer, pa.int64()), (Float, pa.float64()))  # fmt: skip
    types = [next((kind for sql, kind in kinds if isinstance(column.type, sql)), pa.string()) for column in COLUMNS]
    schema = pa.schema(list(zip([column.name for column in COLUMNS], types, strict=True)))
    texts = [column.name for column in COLUMNS if isinstance(column.type, JSON)]
    with parquet.ParquetWriter(stream, schema) as writer:
        for group in in_groups(rows):
            records = [asdict(row) | {name: json.dumps(getattr(row, name)) for name in texts} for row in group]
            writer.write_table(pa.Table.from_pylist(records, schema=schema))


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return json.dumps(value)
    return not_a_formula(value) if isinstance(value, str) else _plain(value)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
