"""Reads the records of the calls that a board shows."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.board.collect import Calls, Cell, Collected, repeats_of
from harness.board.versions import is_of
from harness.format.reference import Reference
from harness.records import Record, Records
from harness.records.versions import RecordedCall, newest_of_version, recorded_calls
from harness.task.contents import Contents


def read_records(
    records: Records, found: Collected, references: Mapping[str, Reference], contents: Mapping[str, Contents]
) -> Collected:
    """Return the calls of a board (`find_versions`) with their records from the database.

    `contents` maps tasks to the digests of their present models and data. Records with other digests belong to an
    earlier version of the task. For tasks that are not in `contents`, all records are taken.
    """
    shown = []
    for calls in found.shown:
        rows = newest_of_version(records, calls.row_key, references)
        shown.append(_with_records(calls, (row for row in rows if is_of(references, row)), contents))
    return replace(found, shown=shown, ran_on=_ran_on(records, shown, found.left_out, references, contents))


def _with_records(calls: Calls, records: Iterable[Record], contents: Mapping[str, Contents]) -> Calls:
    """Add `records`, oldest first, to the calls. `Calls.stale` gets the models that have only outdated records."""
    rows: dict[Cell, Record] = {}
    repetitions, stale = [], set()
    for row in records:
        present = contents.get(row.task)
        if not _is_current(row, present):
            if not row.repeat and present is not None and row.model in present.models:
                stale.add((row.task, row.model))
        elif row.repeat:
            repetitions.append(row)
        else:
            rows[row.task, row.model] = row
    return replace(calls, rows=rows, stale=frozenset(stale - rows.keys()), repeats=repeats_of(repetitions))


def _ran_on(
    records: Records,
    shown: Iterable[Calls],
    left_out: Iterable[Calls],
    references: Mapping[str, Reference],
    contents: Mapping[str, Contents],
) -> dict[str, set[str]]:
    others = {calls.row_key for calls in left_out}
    several = {submission for submission, _, _ in others}
    lacking: dict[str, set[str]] = {}
    for calls in shown:
        if calls.submission in several and (missing := references.keys() - {task for task, _ in calls.rows}):
            lacking.setdefault(calls.submission, set()).update(missing)
    return {
        submission: {
            cell.task for cell in recorded_calls(records, submission, tasks)
            if (submission, cell.submission_digest, cell.configuration) in others
            and is_of(references, cell) and _is_current(cell, contents.get(cell.task))
        }
        for submission, tasks in lacking.items()
    }  # fmt: skip


def _is_current(row: Record | RecordedCall, contents: Contents | None) -> bool:
    return contents is None or (contents.models.get(row.model) == row.model_digest and contents.data == row.data_digest)
