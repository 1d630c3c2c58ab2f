"""Reads the recorded calls of a board, which shows of each submission the version that was requested last."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from harness.about import About
from harness.board.collect import Calls, Cell, Collected, RowKey, repeats_of
from harness.configuration import RECORDED, Configuration, configuration_from, recorded_configuration
from harness.format.reference import Reference
from harness.records import Record, Records, Request
from harness.records.versions import newest_of_version, recorded_versions
from harness.task.contents import Contents


def find_versions(
    records: Records,
    references: Mapping[str, Reference],
    *,
    everything: bool = False,
    counts: Callable[[Calls], bool] = lambda _: True,
) -> Collected:
    """Return the calls that a board shows and the calls that it leaves out, before their records are read.

    Of each submission, a board shows the most recently requested version, with a row for each of the settings with
    which the version was requested. Settings without records get a row only if the version has no records at all. If
    configurations differ only in the versions of libraries and the harness, the board shows the most recently requested
    one. A version that was never requested is treated as older than all others.

    With `everything`, the board shows all versions and configurations. Calls for which `counts` returns False are
    ignored.
    """
    requested = _last_requests(records.requests(), references)
    recorded = recorded_versions(records, references)
    unrequested = [one for one in recorded if one not in requested]
    of_versions = (newest_of_version(records, version, references) for version in unrequested)
    first = [row for rows in of_versions if (row := next((one for one in rows if _is_of(references, one)), None))]
    first.sort(key=lambda row: row.id)
    newest_first = [*map(_requested_calls, reversed(requested.values())), *map(_unrequested_calls, reversed(first))]
    all_calls = [replace(calls, age=age) for age, calls in enumerate(newest_first)]
    return _choose_shown([calls for calls in all_calls if counts(calls)], set(recorded), everything=everything)


def by_age(requests: Iterable[Request]) -> list[Request]:
    """Sort requests from oldest to newest; `requests` has the order of the database.

    Requests that were merged from other databases come first, sorted by time. Clocks differ, so a request with a time
    after its merge counts as made at the merge. The database's own requests follow in their order, so that no merged
    request counts as newer than they are.
    """
    given = list(requests)
    merged = [request for request in given if request.merged_at is not None]
    own = [request for request in given if request.merged_at is None]
    return [*sorted(merged, key=_age), *own]


def _last_requests(requests: Sequence[Request], tasks: Mapping[str, object]) -> dict[RowKey, Request]:
    """Return row key -> the last request for this row on one of `tasks`, sorted from oldest to newest."""
    last: dict[RowKey, Request] = {}
    for request in by_age(requests):
        if request.task in tasks:
            requested = request.submission, request.submission_digest, request.configuration
            last.pop(requested, None)
            last[requested] = request
    return last


def _choose_shown(all_calls: Sequence[Calls], recorded: Collection[RowKey], *, everything: bool) -> Collected:
    """Divide calls, newest first, into shown and omitted calls; `recorded` holds the keys of rows that have records."""
    version: dict[str, str] = {}
    current = [calls for calls in all_calls if version.setdefault(calls.submission, calls.version) == calls.version]
    begun = {calls.submission for calls in current if calls.row_key in recorded}
    chosen: dict[tuple[str, Configuration | None], Calls] = {}
    for calls in current:
        if calls.row_key in recorded or calls.submission not in begun:
            settings = calls.configuration.settings if calls.configuration else None
            chosen.setdefault((calls.submission, settings), calls)
    shown = list(all_calls) if everything else list(chosen.values())
    names = {calls.row_key for calls in shown}
    left_out = [calls for calls in all_calls if calls.row_key not in names]
    return Collected(sorted(shown, key=lambda calls: calls.row_key), left_out)


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
        shown.append(_with_records(calls, (row for row in rows if _is_of(references, row)), contents))
    return replace(found, shown=shown)


def _with_records(calls: Calls, records: Iterable[Record], contents: Mapping[str, Contents]) -> Calls:
    """Return the calls with `records` (oldest first). The field `stale` lists the models with only outdated records."""
    rows: dict[Cell, Record] = {}
    repetitions, stale = [], set()
    for row in records:
        present = contents.get(row.task)
        if present is not None and (present.models.get(row.model), present.data) != (row.model_digest, row.data_digest):
            if not row.repeat and row.model in present.models:
                stale.add((row.task, row.model))
        elif row.repeat:
            repetitions.append(row)
        else:
            rows[row.task, row.model] = row
    return replace(calls, rows=rows, stale=frozenset(stale - rows.keys()), repeats=repeats_of(repetitions))


def configuration_of(record: Record) -> Configuration:
    """Return the configuration that the columns of a record describe."""
    return recorded_configuration(*(getattr(record, name) for name in RECORDED))


def _is_of(references: Mapping[str, Reference], row: Record) -> bool:
    return row.task in references and row.model in references[row.task].gaps


def _age(request: Request) -> tuple[datetime, str, str]:
    assert request.merged_at is not None
    return min(request.requested_at, request.merged_at), request.submission_digest, request.configuration


def _requested_calls(request: Request) -> Calls:
    return Calls(
        submission=request.submission,
        is_baseline=request.is_baseline,
        rows={},
        version=request.submission_digest,
        configuration=configuration_from(request.settings),
        source=request.source,
        requested_at=request.requested_at,
        recorded_configuration=request.configuration,
        deterministic=request.deterministic,
        about=About.from_texts(request.team, request.description, request.paper),
    )


def _unrequested_calls(first: Record) -> Calls:
    return Calls(
        submission=first.submission,
        is_baseline=first.is_baseline,
        rows={},
        version=first.submission_digest,
        configuration=configuration_of(first),
        source=first.submission,
        recorded_configuration=first.configuration,
    )
