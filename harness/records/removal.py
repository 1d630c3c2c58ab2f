"""Moves all rows of a submission to a new results file, from which they can be added again."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from harness.errors import UserError, writing
from harness.hints import did_you_mean
from harness.records.evaluation import Evaluation, Request
from harness.records.store import Records
from harness.sqlite import beside
from harness.text import counted


@dataclass(frozen=True)
class Removal:
    """A planned removal of all records and requests of a submission, in all its versions."""

    evaluations: Sequence[Evaluation]
    requests: Sequence[Request]
    file: Path  #: the new SQLite file to which the rows are moved

    @property
    def text(self) -> str:
        """The numbers of records and requests, such as `8 records (8 on cifar10) and 1 request`."""
        tasks = Counter(row.task for row in self.evaluations)
        by_task = ", ".join(f"{number} on {task}" for task, number in sorted(tasks.items()))
        records = counted(len(self.evaluations), "record") + (f" ({by_task})" if by_task else "")
        return f"{records} and {counted(len(self.requests), 'request')}"

    def carry_out(self, records: Records) -> None:
        """Copy the rows to `file`, then delete them from `records`. Raise `UserError` if a database fails.

        If another command has created `file` meanwhile, raise `UserError`: it holds the rows that this command removed.
        """
        with writing(self.file):
            self.file.touch(exist_ok=False)
        try:
            with Records(self.file) as copy:
                copy.add(*self.evaluations)
                copy.ask(self.requests)
        except BaseException:
            for path in (self.file, *beside(self.file)):
                path.unlink(missing_ok=True)
            raise
        records.delete(*self.evaluations, *self.requests)


def plan_removal(records: Records, submission: str) -> Removal:
    """Return the planned removal of a submission; raise `UserError` if the database has no rows of it."""
    evaluations, requests = records.all_of(submission)
    if not evaluations and not requests:
        known = sorted({*records.distinct("submission"), *(request.submission for request in records.requests())})
        hint = did_you_mean(submission, known) or f"recorded here: {', '.join(known) or 'nothing'}"
        raise UserError(f"no records of {submission!r}", file=records.name, remedy=hint)
    return Removal(evaluations, requests, _new_file(records, submission))


def _new_file(records: Records, submission: str) -> Path:
    stem = f"removed_{re.sub(r'[^A-Za-z0-9_.+-]', '_', submission)}"
    folder = Path() if records.file is None else records.file.parent
    names = (f"{stem}.db" if number == 1 else f"{stem}-{number}.db" for number in count(1))
    return next(folder / name for name in names if not (folder / name).exists())
