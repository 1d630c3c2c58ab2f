"""Reads from a database the records that a board shows, and no others: most are of versions that were replaced."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from harness.board.collect import (
    Calls,
    Collected,
    Record,
    choose_shown,
    is_current,
    is_of,
    versions_of,
    with_records,
)  # fmt: skip
from harness.board.requested import Asked, last_requests
from harness.format.reference import Reference
from harness.records import Records, cells_of, newest_of_version, recorded_versions
from harness.task.contents import Contents


def find_versions(
    records: Records,
    references: Mapping[str, Reference],
    *,
    everything: bool = False,
    counts: Callable[[Calls], bool] = lambda _: True,
) -> Collected:
    """Return the calls that a board of these tasks shows and those that it does not, as `collect`, without records.

    `counts` tells whether calls may be on the board at all.
    """
    asked = last_requests(records.requests(), references)
    unasked = [one for one in recorded_versions(records, references) if one not in asked]
    first = [row for one in unasked if (row := _first(records, one, references)) is not None]
    first.sort(key=lambda row: row.id)
    in_order = {(row.submission, row.submission_digest, row.configuration): row for row in first}
    everyone = [calls for calls in versions_of(asked, in_order) if counts(calls)]
    return choose_shown(everyone, everything=everything)


def read_records(
    records: Records, found: Collected, references: Mapping[str, Reference], contents: Mapping[str, Contents]
) -> Collected:
    """Return calls of `find_versions` with their records, which are read row by row of the board."""
    shown = []
    for calls in found.shown:
        rows = newest_of_version(records, calls.asked, references)
        shown.append(with_records(calls, (row for row in rows if is_of(references, row)), contents))
    return replace(found, shown=shown, ran_on=_ran_on(records, shown, found.left_out, references, contents))


def _first(records: Records, version: Asked, references: Mapping[str, Reference]) -> Record | None:
    return next((row for row in newest_of_version(records, version, references) if is_of(references, row)), None)


def _ran_on(
    records: Records,
    shown: Iterable[Calls],
    left_out: Iterable[Calls],
    references: Mapping[str, Reference],
    contents: Mapping[str, Contents],
) -> dict[str, set[str]]:
    """Return submission -> tasks on which only calls that are left out have records that would count."""
    others = {calls.asked for calls in left_out}
    several = {submission for submission, _, _ in others}
    lacking: dict[str, set[str]] = {}
    for calls in shown:
        if calls.submission in several and (missing := references.keys() - {task for task, _ in calls.rows}):
            lacking.setdefault(calls.submission, set()).update(missing)
    return {
        submission: {
            cell.task for cell in cells_of(records, submission, tasks)
            if (submission, cell.submission_digest, cell.configuration) in others
            and is_of(references, cell) and is_current(cell, contents.get(cell.task))
        }
        for submission, tasks in lacking.items()
    }  # fmt: skip
