"""The recorded calls."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.credentials import RESULTS, Address
from harness.errors import UserError
from harness.hints import did_you_mean
from harness.names import as_names
from harness.outcome import Outcome
from harness.records import EVALUATIONS, Evaluation, Records


@contextmanager
def open_results(
    results: Address | Path | str = RESULTS,
    *,
    submissions: Sequence[str] = (),
    task_names: Sequence[str] = (),
    outcomes: Sequence[str] = (),
) -> Iterator[Iterator[Evaluation]]:
    """Yield the record of each call, oldest first; of several with the same key the newest.

    A record has every column of docs/records.md. Records are read as they are asked for, within this context.

    Args:
        results: database of the records.
        submissions: only these submissions; empty: all.
        task_names: only these tasks; empty: all.
        outcomes: only calls with these outcomes, in any case; empty: all.

    Raises:
        UserError: the records are not there, or have no such name or outcome.
    """
    table = EVALUATIONS.c
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
        yield records.whole_of(*calls, only=ended)


def results(location: Address | Path | str = RESULTS, **only: Sequence[str]) -> list[dict[str, Any]]:
    """Return the records of `open_results` as a list of dictionaries, for instance for a `pandas.DataFrame`.

    `only` has the keywords of `open_results`: `submissions`, `task_names` and `outcomes`.
    """
    with open_results(location, **only) as rows:
        return list(map(asdict, rows))
