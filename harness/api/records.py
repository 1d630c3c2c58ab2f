"""The recorded calls."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.api.submissions import Confirm
from harness.credentials import RESULTS, Address
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.names import as_names
from harness.outcome import Outcome
from harness.records import EVALUATIONS, Evaluation, Records
from harness.records.removal import plan_removal
from harness.task import DEFAULT_DIRECTORY
from harness.task.hidden import WITHHELD, Withhold
from harness.task.layout import TaskDirectory, hidden_names


@dataclass
class RecordedCalls:
    """The records that may be shown, which are read as they are asked for, once.

    Attributes:
        withheld: hidden task -> outcome -> number of its records, which are left out; complete after the last record.
    """

    _rows: Iterable[Evaluation]
    _hidden: Collection[str]
    _withhold: Withhold
    withheld: dict[str, Counter[str]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Evaluation]:
        """Yield the records of open tasks. The message of a record says if its task was hidden at that time."""
        for row in self._rows:
            if self._withhold.covers(row.task in self._hidden or row.message == WITHHELD):
                self.withheld.setdefault(row.task, Counter())[row.outcome] += 1
            else:
                yield row


@contextmanager
def open_results(
    results: Address | Path | str = RESULTS,
    *,
    submissions: Sequence[str] = (),
    task_names: Sequence[str] = (),
    outcomes: Sequence[str] = (),
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    withhold: str = Withhold.AUTO.value,
) -> Iterator[RecordedCalls]:
    """Yield the record of each call, oldest first; if several records have the same key, the newest.

    A record has every column that `pgdl help records` lists. The context reads records while the caller iterates;
    records of hidden tasks are left out and counted by outcome.

    Args:
        results: database of the records.
        submissions: only these submissions; empty: all.
        task_names: only these tasks; empty: all.
        outcomes: only calls with these outcomes, in any case; empty: all.
        tasks_dir: directory of the tasks, whose marks say which are hidden; it need not exist.
        withhold: whether records are left out; `auto`: the records of tasks that are marked as hidden now, or were
            marked when the call was made.

    Raises:
        UserError: there are no records, or no record has such a name or outcome.
    """
    table, root = EVALUATIONS.c, Path(tasks_dir)
    hidden = hidden_names(TaskDirectory(root).tasks) if root.is_dir() else frozenset[str]()
    with Records(results, read_only=True) as records:
        submissions, task_names = as_names(submissions), as_names(task_names)
        words = [word.upper() for word in as_names(outcomes)]
        for column, chosen, known in (
            (table.submission, submissions, records.distinct("submission") if submissions else []),
            (table.task, task_names, records.distinct("task") if task_names else []),
            (table.outcome, words, list(Outcome)),
        ):
            for word in chosen:
                if word not in known:
                    hint = did_you_mean(word, known) or f"there are {', '.join(sorted(known)) or 'none'}"
                    raise UserError(f"no {column.key} {word!r}", file=records.name, remedy=hint)
        calls = [
            column.in_(chosen)
            for column, chosen in ((table.submission, submissions), (table.task, task_names)) if chosen
        ]  # fmt: skip
        ended = [table.outcome.in_(words)] if words else []
        yield RecordedCalls(records.whole_of(*calls, only=ended), hidden, Withhold(withhold))


def remove_results(
    submission: str, location: Address | Path | str = RESULTS, *, confirm: Confirm = lambda _: True
) -> Path | None:
    """Remove all records and requests of a submission, and return the new database to which they were moved.

    Return None and remove nothing unless `confirm` agrees to the question that names the records to be removed.

    Raises:
        UserError: the submission has no records, or they cannot be copied or removed.
    """
    with Records(location, read_only=True) as records:
        removal = plan_removal(records, submission)
    if not confirm(f"Remove {removal.text} of {submission!r} from {records.name}? They are moved to {removal.file}."):
        return None
    with Records(location) as records:
        removal.carry_out(records)
    return removal.file


def results(location: Address | Path | str = RESULTS, **only: Any) -> list[dict[str, Any]]:
    """Return the records of `open_results` as a list of dictionaries, for instance for a `pandas.DataFrame`.

    `only` has the keywords of `open_results`, such as `submissions` and `task_names`.
    """
    with open_results(location, **only) as rows:
        return list(map(asdict, rows))
