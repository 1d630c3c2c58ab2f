"""Adds the records and requests of another results file, for example from a job on another machine."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.exc import StatementError

from harness.credentials import Address
from harness.errors import UserError
from harness.outcome import Outcome
from harness.records.evaluation import EVALUATIONS, Request
from harness.records.keys import in_groups
from harness.records.store import Records


def add_records(records: Records, file: Address | Path) -> int:
    """Add the requests in `file`, and those of its records whose calls have no record in `records`.

    Return the number of added records. A record with the outcome `INFRA_ERROR` counts as no record. Raise `UserError`
    for a URL or an unreadable file.
    """
    added = 0
    if isinstance(file, Address) and file.is_url:
        raise UserError("not a results file", file=file, expected="the path of an SQLite file", found="a URL")
    with Records(file, read_only=True, option="--add-records") as others:
        try:
            for group in in_groups(others.whole_of(only=[EVALUATIONS.c.outcome != Outcome.INFRA_ERROR])):
                ended = records.ended([row.key for row in group])
                known = {row.key for row in ended if row.outcome != Outcome.INFRA_ERROR}
                new = [row for row in group if row.key not in known]
                records.add(*new)
                added += len(new)
            requests = list(map(_before_merge, others.requests()))
        except (ValueError, TypeError, StatementError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"not a file of records: {reason}", file=file) from error
    known_requests = set(map(_before_merge, records.requests()))
    now = datetime.now(UTC)
    records.ask(replace(request, merged_at=now) for request in requests if request not in known_requests)
    return added


def _before_merge(request: Request) -> Request:
    return replace(request, merged_at=None)
