"""The recorded calls."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.credentials import RESULTS, Address
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.outcome import Outcome
from harness.records import Evaluation, Records


@contextmanager
def open_results(
    results: Address | Path | str = RESULTS,
    *,
    submissions: Sequence[str] = (),
    task_names: Sequence[str] = (),
    outcomes: Sequence[str] = (),
) -> Iterator[Iterator[dict[str, Any]]]:
    """Yield one row per recorded call, oldest first; of several records with the same key the newest.

    A row has every column of docs/records.md. Rows are read as they are asked for, within this context.

    Args:
        results: database of the records.
        submissions: only these submissions; empty: all.
        task_names: only these tasks; empty: all.
        outcomes: only calls with these outcomes, in any case; empty: all.

    Raises:
        UserError: the records are not there, or have no such name or outcome.
    """
    with Records(results, read_only=True) as records:
        words = [word.upper() for word in outcomes]
        for column, chosen, known in (
            (Evaluation.submission, submissions, records.distinct("submission") if submissions else []),
            (Evaluation.task, task_names, records.distinct("task") if task_names else []),
            (Evaluation.outcome, words, list(Outcome)),
        ):
            for word in chosen:
                if word not in known:
                    hint = did_you_mean(word, known) or f"there are {', '.join(sorted(known)) or 'none'}"
                    raise UserError(f"no {column.key} {word!r}", file=records.name, remedy=hint)
        calls = [
            column.in_(chosen)
            for column, chosen in ((Evaluation.submission, submissions), (Evaluation.task, task_names)) if chosen
        ]  # fmt: skip
        ended = [Evaluation.outcome.in_(words)] if words else []
        yield (dict(row._mapping) for row in records.newest_of(*calls, only=ended, long=True))


def results(location: Address | Path | str = RESULTS, **only: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of `open_results` as a list, for instance for a `pandas.DataFrame`."""
    with open_results(location, **only) as rows:
        return list(rows)
