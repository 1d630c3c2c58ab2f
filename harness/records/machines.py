"""On what machines the calls of records were made."""

from collections.abc import Collection

from sqlalchemy import case, func, null, select

from harness.records.evaluation import EVALUATIONS
from harness.records.keys import newest_of_keys
from harness.records.store import Records
from harness.text import printable

#: Characters of a class that are kept.
LONGEST = 200


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
