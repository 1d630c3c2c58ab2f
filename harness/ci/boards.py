"""The recorded calls of a git revision: of its submissions, in their versions at this revision."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from harness.board.collect import Calls, Collected
from harness.board.recorded import read_records
from harness.board.versions import find_versions
from harness.ci.git import GitEntry, Repository
from harness.ci.reading import RefusedError, read_submission
from harness.configuration import Configuration
from harness.format.reference import Reference
from harness.records import Records
from harness.submission import Submission
from harness.task.contents import Contents
from harness.worker.runtimes import DEFAULT


@dataclass(frozen=True)
class JobSettings:
    """The settings that a job requests. None stands for a choice of the machine or the submission.

    The board of a job has rows with these settings only: a score with another seed or limit says nothing about the
    change. Calls without a sandbox are excluded, too, since a job never makes such calls.
    """

    run_seed: int
    time_limit_s: float
    time_budget: str
    memory_limit_bytes: int | None
    runtime: str | None

    def covers(self, configuration: Configuration, runtime: str | None) -> bool:
        """Return whether a call with this configuration counts; `runtime` is the submission's own choice."""
        wanted = {
            "run_seed": self.run_seed, "time_limit_s": self.time_limit_s, "time_budget": self.time_budget,
            "memory_limit_bytes": self.memory_limit_bytes, "runtime": self.runtime or runtime or DEFAULT,
        }  # fmt: skip
        same = all(value is None or getattr(configuration, name) == value for name, value in wanted.items())
        return same and configuration.is_sandboxed


def read_versions(repository: Repository, folder: str, entries: Mapping[str, GitEntry]) -> dict[str, Submission]:
    """Return the submissions in the entries of `folder`, by name. Submissions that cannot be read are left out."""
    versions = {}
    for name, entry in entries.items():
        with suppress(RefusedError):
            versions[name] = read_submission(repository, folder, entry)
    return versions


def collect_versions(
    records: Records,
    versions: Mapping[str, Submission],
    asked: JobSettings,
    references: Mapping[str, Reference],
    contents: Mapping[str, Contents],
) -> Collected:
    """Return the recorded calls of `versions` and of the library's measures, made with the settings `asked`.

    A record counts only if its digest equals the digest of the submission of that name in `versions`. So no record of
    another change, or from another source, can enter the row.
    """

    def counts(calls: Calls) -> bool:
        if calls.configuration is None:
            return False
        if calls.is_baseline:
            return asked.covers(calls.configuration, None)
        found = versions.get(calls.submission)
        same = found is not None and found.digest == calls.version
        return same and asked.covers(calls.configuration, found.metadata.runtime if found else None)

    found = find_versions(records, references, counts=counts)
    return read_records(records, found, references, contents)
