"""The recorded calls of a revision: of the submissions that stand in it, in the versions of then."""

from collections.abc import Mapping

from harness.board.collect import Collected, collect
from harness.ci.git import Entry, Repository
from harness.ci.reading import RefusedError, read_submission
from harness.format.reference import Reference
from harness.records import Evaluation, Records
from harness.task.contents import Contents


def read_versions(repository: Repository, folder: str, entries: Mapping[str, Entry]) -> dict[str, str]:
    """Return the digest of each submission that can be read, by its name."""
    versions = {}
    for name, entry in entries.items():
        try:
            versions[name] = read_submission(repository, folder, entry).digest
        except RefusedError:
            continue
    return versions


def collect_versions(
    records: Records, versions: Mapping[str, str], references: Mapping[str, Reference], contents: Mapping[str, Contents]
) -> Collected:
    """Return the calls of these versions, and of the library's measures, that count.

    A record counts for a name only with the digest that the revision has under it, so no other change and no other
    source of records can stand in its row.
    """
    rows = records.newest_of(Evaluation.task.in_(list(references)))
    counted = (row for row in rows if row.is_baseline or versions.get(row.submission) == row.submission_digest)
    return collect(counted, references, records.requests(), contents)
