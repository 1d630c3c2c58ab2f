"""Collects the recorded calls of the submissions in a git revision; calls of other versions are left out."""

from collections.abc import Callable, Mapping
from contextlib import suppress

from harness.board.collect import Calls, Collected
from harness.board.versions import find_versions, read_records
from harness.ci.git import GitEntry, Repository
from harness.ci.reading import RefusedError, read_submission
from harness.configuration import Configuration
from harness.format.reference import Reference
from harness.records import Records
from harness.submission import Submission
from harness.task.contents import Contents

#: A function: configuration of a call, runtime that the submission chooses -> whether the call counts for a job.
Covers = Callable[[Configuration, str | None], bool]


def read_versions(repository: Repository, folder: str, entries: Mapping[str, GitEntry]) -> dict[str, Submission]:
    """Read the submissions `entries` (name -> entry of `folder`); unreadable submissions are left out."""
    versions = {}
    for name, entry in entries.items():
        with suppress(RefusedError):
            versions[name] = read_submission(repository, folder, entry)
    return versions


def collect_versions(
    records: Records,
    versions: Mapping[str, Submission],
    covers: Covers,
    references: Mapping[str, Reference],
    contents: Mapping[str, Contents],
) -> Collected:
    """Return the recorded calls of `versions` (name -> submission) and of the library's measures.

    Calls count only if `covers` accepts their configuration. A submission's calls count only if its recorded digest is
    the digest in `versions`: another change may have a submission of the same name.
    """

    def counts(calls: Calls) -> bool:
        if calls.configuration is None:
            return False
        if calls.is_baseline:
            return covers(calls.configuration, None)
        found = versions.get(calls.submission)
        if found is None or found.digest != calls.version:
            return False
        return covers(calls.configuration, found.metadata.runtime)

    found = find_versions(records, references, counts=counts)
    return read_records(records, found, references, contents)
