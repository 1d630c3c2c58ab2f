"""Sentences on the score of a row, on missing values, and on chance."""

from collections import Counter
from collections.abc import Sequence

from harness.board.disclosure import DECIMALS, INTERVAL_WITHHELD, ONLY_ROUNDED
from harness.board.on_task import MISSING, OnTask, counted
from harness.board.row import Row
from harness.board.scores import decimal
from harness.task.task_notes import abbreviated


def state_of(row: Row, n_rows: int) -> str:
    """Return a sentence with score, interval and rank of a row on a board of `n_rows` rows."""
    if row.score is None:
        return no_score(_why_no_score(row))
    text = f"Score {decimal(row.score, DECIMALS if row.rounded else 2)}"
    if row.standing is not None:
        text += f" (90 % interval {row.standing.low:.1f} to {row.standing.high:.1f})"
    if row.rank is None:
        return f"{text}, not ranked."
    if n_rows > 1:
        text += f", rank {row.rank} of {n_rows}"
    if row.standing is not None and row.standing.best_rank < row.standing.worst_rank:
        text += f", which may be anything from {row.standing.best_rank} to {row.standing.worst_rank} by luck"
    if not row.complete:
        names = [name for name, task in row.tasks.items() if task.score is None]
        text += (
            f"; incomplete: no score on {names[0] if len(names) == 1 else f'{len(names)} of {len(row.tasks)} tasks'}"
        )
    return f"{text}. {INTERVAL_WITHHELD}" if row.rounded else f"{text}."


def state_on(task: OnTask) -> str:
    """Return a sentence that explains a missing or rounded official score; "" for an ordinary score."""
    if task.official is not None:
        return ONLY_ROUNDED if task.withheld else ""
    if task.not_run or task.interrupted:
        return no_score(_made(task.n_models - task.failures[MISSING], task.n_models))
    return no_score(task.reason or (task.score.undefined if task.score else ""))


def no_score(reason: str) -> str:
    """Return the sentence on a missing score, with its reason and a full stop."""
    return f"No score: {reason.rstrip('.')}."


def _why_no_score(row: Row) -> str:
    failures = row.failures
    if not failures:
        return "no task has an official score"
    if set(failures) == {MISSING}:
        return _made(row.calls_ok, row.calls_expected)
    return f"{failures.total()} of {row.calls_expected} calls have no value ({counted(failures)})"


def _made(made: int, expected: int) -> str:
    """Return words on the number of calls that were made, such as `only 2 of 16 calls were made`."""
    return f"only {made} of {expected} calls were made" if made else f"none of {expected} calls was made"


def remark_on_missing_values(rows: Sequence[Row]) -> list[str]:
    """Return a remark that names the rows without a value for some model; [] if there are none.

    Calls that were recorded with an earlier version of the task are left out: other remarks name them.
    """
    lacking = {row.label: row.failures - Counter({MISSING: row.stale}) for row in rows}
    named = [f"{label} ({counted(failures)})" for label, failures in lacking.items() if failures]
    explained = {outcome for row in rows for outcome in row.public_failures} - {MISSING}
    advice = ["a repeated run makes missing calls"] if any(MISSING in found for found in lacking.values()) else []
    advice += ["pgdl report says why calls failed"] if explained else []
    said = "; ".join(filter(None, (abbreviated(named), ", ".join(advice))))
    return [f"without a value for every model: {said}"] if named else []


def beside_chance(may_be_chance: bool | None) -> str:
    """Return `could be chance` for True, `beyond chance` for False, an empty text for None."""
    return {None: "", True: "could be chance", False: "beyond chance"}[may_be_chance]
