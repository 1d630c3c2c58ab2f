"""The records of one version of a submission in one configuration, which lie together in an index."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from sqlalchemy import select

from harness.records.evaluation import EVALUATIONS, Record
from harness.records.index_scan import distinct_combinations
from harness.records.store import Records

#: Name and digest of a submission, and the ID of a configuration.
Version = tuple[str, str, str]


class RecordedCall(NamedTuple):
    """A model of a task, each with its digest, that a version was called on."""

    submission_digest: str
    configuration: str
    task: str
    model: str
    model_digest: str
    data_digest: str


def recorded_versions(records: Records, tasks: Collection[str]) -> list[Version]:
    """Return every version and configuration that has records on these tasks."""
    table = EVALUATIONS.c
    columns, on_tasks = [table.submission, table.submission_digest, table.configuration], table.task.in_(list(tasks))
    found = distinct_combinations(columns)
    same = (column == found.c[column.name] for column in columns)
    one = select(table.id).where(*same, on_tasks).limit(1).scalar_subquery()  # EXISTS: PostgreSQL reads all records
    query = select(found).where(found.c.configuration.is_not(None), one.is_not(None))
    return [(name, digest, configuration) for name, digest, configuration in records.rows(query)]


def newest_of_version(records: Records, version: Version, tasks: Collection[str]) -> Iterator[Record]:
    """Yield the newest record of each call of a version on these tasks, oldest first, without the long columns."""
    submission, digest, configuration = version
    return records.newest_of(
        EVALUATIONS.c.submission == submission,
        EVALUATIONS.c.submission_digest == digest,
        EVALUATIONS.c.configuration == configuration,
        EVALUATIONS.c.task.in_(list(tasks)),
    )


def has_several_builds(records: Records, task: str) -> bool:
    """Whether records of a task are of its models and data, and of others of the same names."""
    table = EVALUATIONS.c
    found = records.rows(
        select(table.model, table.model_digest, table.data_digest).where(table.task == task).distinct()
    )
    return len(found) > len({model for model, _, _ in found}) or len({data for _, _, data in found}) > 1


def recorded_calls(records: Records, submission: str, tasks: Collection[str]) -> list[RecordedCall]:
    """Return the calls on these tasks that any version of a submission has records of, without their repetitions."""
    table = EVALUATIONS.c
    chosen = table.submission == submission, table.task.in_(list(tasks)), table.repeat == 0
    query = select(*(table[name] for name in RecordedCall._fields)).where(*chosen).distinct()
    return [RecordedCall(*row) for row in records.rows(query)]
