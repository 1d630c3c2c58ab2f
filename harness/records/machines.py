"""On what machines the calls of records were made."""

from collections.abc import Sequence

from sqlalchemy import case, func, null, select

from harness.records.evaluation import Evaluation
from harness.records.keys import chunks
from harness.records.store import Records
from harness.text import printable

#: Characters of a class that are kept.
LONGEST = 200


def machine_classes(records: Records, rows: Sequence[int]) -> list[str]:
    """Return the distinct classes of machines that rows of the records name, in alphabetical order.

    A class is what tells machines apart on which values may differ: cores, processor and GPUs. A
    record may name none.
    """
    found = Evaluation.environment["machine_class"].as_string()
    if records.file is not None:  # which may hold any text
        found = case((func.json_valid(Evaluation.environment) == 1, found), else_=null())
    classes = {
        printable(str(row[0]))[:LONGEST] for part in chunks(rows)
        for row in records.rows(select(found).where(Evaluation.id.in_(part)).distinct()) if row[0]
    }  # fmt: skip
    return sorted(classes)
