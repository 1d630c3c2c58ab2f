"""The records of one version of a submission in one configuration, which lie together in an index."""

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Row, select

from harness.records.evaluation import Evaluation
from harness.records.index_scan import distinct_combinations
from harness.records.store import Records

#: Name and digest of a submission, and the ID of a configuration.
Version = tuple[str, str, str]


def recorded_versions(records: Records, tasks: Collection[str]) -> list[Version]:
    """Return every version and configuration that has records on these tasks."""
    table = Evaluation.__table__.c
    columns, on_tasks = [table.submission, table.submission_digest, table.configuration], table.task.in_(list(tasks))
    found = distinct_combinations(columns)
    same = (column == found.c[column.name] for column in columns)
    one = select(table.id).where(*same, on_tasks).limit(1).scalar_subquery()  # EXISTS: PostgreSQL reads all records
    query = select(found).where(found.c.configuration.is_not(None), one.is_not(None))
    return [tuple(row) for row in records.rows(query)]


def newest_of_version(records: Records, version: Version, tasks: Collection[str]) -> Iterator[Row[Any]]:
    """Yield the newest record of each call of a version on these tasks, oldest first, without the long columns."""
    submission, digest, configuration = version
    return records.newest_of(
        Evaluation.submission == submission,
        Evaluation.submission_digest == digest,
        Evaluation.configuration == configuration,
        Evaluation.task.in_(list(tasks)),
    )


def has_several_builds(records: Records, task: str) -> bool:
    """Whether records of a task are of its models and data, and of others of the same names."""
    table = Evaluation.__table__.c
    found = records.rows(
        select(table.model, table.model_digest, table.data_digest).where(table.task == task).distinct()
    )
    return len(found) > len({row.model for row in found}) or len({row.data_digest for row in found}) > 1


def cells_of(records: Records, submission: str, tasks: Collection[str]) -> list[Row[Any]]:
    """Return the calls on these tasks that any version of a submission has records of, without their repetitions.

    A row has `submission_digest`, `configuration`, `task`, `model`, `model_digest` and `data_digest`.
    """
    columns = (
        Evaluation.submission_digest, Evaluation.configuration, Evaluation.task, Evaluation.model,
        Evaluation.model_digest, Evaluation.data_digest,
    )  # fmt: skip
    chosen = Evaluation.submission == submission, Evaluation.task.in_(list(tasks)), Evaluation.repeat == 0
    return records.rows(select(*columns).where(*chosen).distinct())
