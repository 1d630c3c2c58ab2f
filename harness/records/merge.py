"""Adds the records of another results file, for jobs that run in parallel or on other machines."""

from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Row
from sqlalchemy.exc import StatementError

from harness.credentials import Address
from harness.errors import UserError
from harness.outcome import Outcome
from harness.records.evaluation import Evaluation
from harness.records.request import Request
from harness.records.store import Records
from harness.records.tables import columns_of

#: Rows in memory at once.
AT_ONCE = 500


def add_records(records: Records, file: Address | Path) -> int:
    """Add the rows of an SQLite file whose calls have no record yet, and its requests; returns the number of rows.

    No row is changed: of a call that both have, the record that is here already stays. Raises `UserError` if the file
    cannot be read, or for a URL.
    """
    added = 0
    if isinstance(file, Address) and file.is_url:
        raise UserError("not a results file", file=file, expected="the path of an SQLite file", found="a URL")
    with Records(file, read_only=True) as others:
        try:
            rows = others.newest_of(only=[Evaluation.outcome != Outcome.INFRA_ERROR], long=True)
            while part := list(islice(rows, AT_ONCE)):
                ended = records.ended([row.key for row in part])
                known = {row.key for row in ended if row.outcome != Outcome.INFRA_ERROR}
                new = [Evaluation(**columns_of(row)) for row in part if row.key not in known]
                records.add(*new)
                added += len(new)
            requests = [_columns(request) for request in others.requests()]
        except (ValueError, TypeError, StatementError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"not a file of records: {reason}", file=file) from error
    known_requests = [_columns(request) for request in records.requests()]
    now = datetime.now(UTC)
    records.ask(Request(**request, merged_at=now) for request in requests if request not in known_requests)
    return added


def _columns(request: Row[Any]) -> dict[str, Any]:
    """The columns that say what was asked, and when; not those of one database alone."""
    return {name: value for name, value in columns_of(request).items() if name != "merged_at"}
