"""Queries for leaderboards: which versions of submissions have records, and on which machines."""

from collections.abc import Collection, Iterator

from sqlalchemy import case, func, null, select

from harness.records.evaluation import EVALUATIONS, Record
from harness.records.keys import newest_of_keys
from harness.records.store import Records
from harness.text import printable

LONGEST = 200  #: maximum number of characters of the name of a machine class

#: Name of a submission, digest of its files, ID of a configuration.
Version = tuple[str, str, str]


def recorded_versions(records: Records, tasks: Collection[str]) -> list[Version]:
    """Return all versions that have a record on one of these tasks, in alphabetical order."""
    table = EVALUATIONS.c
    version = table.submission, table.submission_digest, table.configuration
    is_on_tasks = func.max(case((table.task.in_(list(tasks)), 1), else_=0)) == 1
    # SQLite answers this from an index with all these columns: 0.03 to 0.07 s for 200,000 records.
    query = select(*version).group_by(*version).having(is_on_tasks).order_by(*version)
    return [(name, digest, configuration) for name, digest, configuration in records.rows(query)]


def newest_of_version(records: Records, version: Version, tasks: Collection[str]) -> Iterator[Record]:
    """Yield the newest record of each call of a version on these tasks; older records come first."""
    submission, digest, configuration = version
    return records.newest_of(
        EVALUATIONS.c.submission == submission,
        EVALUATIONS.c.submission_digest == digest,
        EVALUATIONS.c.configuration == configuration,
        EVALUATIONS.c.task.in_(list(tasks)),
    )


def has_several_builds(records: Records, task: str) -> bool:
    """Return whether a task has records of different files of the same model, or of different data."""
    table = EVALUATIONS.c
    found = records.rows(
        select(table.model, table.model_digest, table.data_digest).where(table.task == task).distinct()
    )
    return len(found) > len({model for model, _, _ in found}) or len({data for _, _, data in found}) > 1


def machine_classes(records: Records, keys: Collection[str]) -> list[str]:
    """Return the machine classes (cores, processor, GPUs) in the newest records of calls with these keys, sorted."""
    found = EVALUATIONS.c.environment["machine_class"].as_string()
    if records.file is not None:  # a file may hold any text
        found = case((func.json_valid(EVALUATIONS.c.environment) == 1, found), else_=null())
    classes = {
        printable(str(row[0]))[:LONGEST] for query in newest_of_keys(select(found).distinct(), keys)
        for row in records.rows(query.order_by(None)) if row[0]
    }  # fmt: skip
    return sorted(classes)
