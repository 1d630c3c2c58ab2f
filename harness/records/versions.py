"""Questions that boards ask of the records: by versions of submissions, which lie together in an index, and by keys."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import CTE, ColumnElement, case, func, null, select

from harness.records.evaluation import EVALUATIONS, Record
from harness.records.keys import newest_of_keys
from harness.records.store import Records
from harness.text import printable

#: Characters of a class of machines that are kept.
LONGEST = 200

Columns = Sequence[ColumnElement[Any]]

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
    found = _distinct_combinations(columns)
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


def machine_classes(records: Records, keys: Collection[str]) -> list[str]:
    """Return the distinct classes of machines that the newest records of some keys name, in alphabetical order.

    A class is what tells machines apart on which values may differ: cores, processor and GPUs. A
    record may name none.
    """
    found = EVALUATIONS.c.environment["machine_class"].as_string()
    if records.file is not None:  # which may hold any text
        found = case((func.json_valid(EVALUATIONS.c.environment) == 1, found), else_=null())
    classes = {
        printable(str(row[0]))[:LONGEST] for query in newest_of_keys(select(found).distinct(), keys)
        for row in records.rows(query.order_by(None)) if row[0]
    }  # fmt: skip
    return sorted(classes)


def _distinct_combinations(columns: Columns) -> CTE:
    """Return a query of the distinct combinations of the first columns of an index, none of which may be NULL.

    It goes from each value to the next larger one, so that it takes as many steps as there are combinations; a
    `DISTINCT` reads every row in most databases. Without the index it is right, but each step reads all rows.

    Source: "Loose indexscan", the wiki of PostgreSQL.
    """
    found: CTE | None = None
    for number in range(len(columns)):
        found = _with_next(found, columns[:number], columns[number])
    assert found is not None
    return found


def _with_next(before: CTE | None, known: Columns, column: ColumnElement[Any]) -> CTE:
    """Return the combinations of `known` with each value of one more column; `before` are those without it.

    Its rows with NULL in that column, where no larger value was found, are the last of each combination.
    """
    name = f"by_{column.name}"
    least = func.min(column)
    if before is None:
        walk = select(least.label(column.name)).cte(name, recursive=True)
    else:
        given = [before.c[one.name] for one in known]
        first = select(least).where(*(one == before.c[one.name] for one in known)).scalar_subquery()
        start = select(*given, first.label(column.name)).where(given[-1].is_not(None))
        walk = start.cte(name, recursive=True)
    same = [walk.c[one.name] for one in known]
    larger = [one == walk.c[one.name] for one in known] + [column > walk.c[column.name]]
    following = select(least).where(*larger).scalar_subquery()
    return walk.union_all(select(*same, following).where(walk.c[column.name].is_not(None)))
