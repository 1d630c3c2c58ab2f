"""The functions `pgdl.results`, `open_results` and `remove_results`: read and remove the records of calls."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.credentials import RESULTS, Address
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.names import as_names
from harness.outcome import WITHHELD, Outcome
from harness.records import EVALUATIONS, Evaluation, Records
from harness.records.removal import plan_removal
from harness.task import DEFAULT_DIRECTORY
from harness.task.hidden import Withhold
from harness.task.layout import TaskDirectory, hidden_names, is_absent_default


@dataclass
class RecordedCalls:
    """The records that may be shown, as an iterable that can be iterated over only once."""

    _rows: Iterable[Evaluation]
    _hidden: Collection[str]
    _withhold: Withhold
    #: hidden task -> outcome -> number of records left out so far
    withheld: dict[str, Counter[str]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Evaluation]:
        for row in self._rows:
            # The message says whether the task was hidden when the call was made.
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
    """Return a context with the newest record of each call, in the order of recording.

    Records have the columns that `pgdl help records` lists, and are read while the caller iterates over them. Records
    on hidden tasks are left out; the attribute `withheld` counts them by outcome.

    Args:
        submissions: only these submissions; empty: all.
        outcomes: only calls with these outcomes, in upper or lower case; empty: all.
        tasks_dir: directory of the tasks; its marks say which tasks are hidden. The default directory need not exist.
        withhold: which records are left out: with `auto`, those whose task is hidden now, or was hidden when the call
            was made; with `always`, all; with `never`, none.

    Raises:
        UserError: there are no records, a name or an outcome is unknown, or there is no directory `tasks_dir`.
    """
    root = Path(tasks_dir)
    hidden = frozenset[str]() if is_absent_default(root) else hidden_names(TaskDirectory(root).tasks)
    chosen = {
        "submission": as_names(submissions), "task": as_names(task_names),
        "outcome": [word.upper() for word in as_names(outcomes)],
    }  # fmt: skip
    with Records(results, read_only=True) as records:
        for name, words in chosen.items():
            known = list(Outcome) if name == "outcome" else records.distinct(name) if words else []
            if unknown := [word for word in words if word not in known]:
                hint = did_you_mean(unknown[0], known) or f"there are {', '.join(sorted(known)) or 'none'}"
                raise UserError(f"no {name} {unknown[0]!r}", file=records.name, remedy=hint)
        wanted = {name: EVALUATIONS.c[name].in_(words) for name, words in chosen.items() if words}
        ended = [wanted.pop("outcome")] if outcomes else []
        yield RecordedCalls(records.whole_of(*wanted.values(), only=ended), hidden, Withhold(withhold))


def remove_results(
    submission: str, location: Address | Path | str = RESULTS, *, confirm: Callable[[str], bool] = lambda _: True
) -> Path | None:
    """Move all records and requests of a submission to a new database, and return its path.

    `confirm` receives a question that names the records. If the answer is False, nothing is moved, and the result is
    None. Raise `UserError` if the submission has no records, or if they cannot be copied or removed.
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

    `only` are keywords of `open_results`, such as `submissions` and `task_names`.
    """
    with open_results(location, **only) as rows:
        return list(map(asdict, rows))
