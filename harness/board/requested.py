"""The version and configuration of a submission that was requested last."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: A row of the table `requests` (harness/records/request.py).
Requested = Any

#: Name and digest of a submission, and the ID of a configuration: what one row of a board is made of.
Asked = tuple[str, str, str]


def by_age(requests: Iterable[Requested]) -> list[Requested]:
    """Return the requests, oldest first; `requests` are in the order of their rows.

    Requests from other databases come before those that were asked here: they never displace them. Among themselves
    the requested time decides, which cannot lie after the merge, whatever the clock of the other machine said; equal
    times are put in the order of version and configuration. What was asked here is in the order of writing, since a
    clock may be set back.
    """
    given = list(requests)
    merged = [request for request in given if request.merged_at is not None]
    own = [request for request in given if request.merged_at is None]
    return [*sorted(merged, key=_age), *own]


def last_requests(requests: Sequence[Requested], tasks: Mapping[str, object]) -> dict[Asked, Requested]:
    """Return the last request of each row on these tasks, the oldest row first."""
    last: dict[Asked, Requested] = {}
    for request in by_age(requests):
        if request.task in tasks:
            asked = request.submission, request.submission_digest, request.configuration
            last.pop(asked, None)
            last[asked] = request
    return last


def _age(request: Requested) -> tuple[Any, ...]:
    assert request.merged_at is not None
    return min(request.requested_at, request.merged_at), request.submission_digest, request.configuration
