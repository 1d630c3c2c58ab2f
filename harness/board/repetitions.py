"""Remarks on repetitions (`--repeat`): failures, and submissions that claim to be deterministic but are not."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from harness.board.collect import Calls, Cell, repeats_of, value_of
from harness.board.on_task import counted
from harness.task.task_notes import abbreviated
from scoring import Failure

if TYPE_CHECKING:
    from harness.records import Record

Value = float | Failure


def remarks_on(shown: Sequence[Calls], withheld: Collection[str]) -> list[str]:
    """Return remarks on repetitions, one per line; they name no model or outcome of the hidden tasks `withheld`."""
    lines = []
    for calls in shown:
        lines += _failed(calls, withheld)
        if calls.deterministic:
            values = {cell: value_of(row) for cell, row in calls.rows.items()}
            lines += _varying(calls.submission, values, calls.repeats, withheld)
    return lines


def not_deterministic(
    records: Iterable["Record"], deterministic: Collection[str], withheld: Collection[str]
) -> list[str]:
    """Return a remark on each submission that claims to be deterministic, but returned two values for one model."""
    rows: dict[str, list[Record]] = {name: [] for name in deterministic}
    for row in records:
        if row.submission in rows:
            rows[row.submission].append(row)
    lines = []
    for name, of_submission in rows.items():
        values = {(row.task, row.model): value_of(row) for row in of_submission if not row.repeat}
        lines += _varying(name, values, repeats_of(of_submission), withheld)
    return lines


def _failed(calls: Calls, withheld: Collection[str]) -> list[str]:
    failures: dict[str, dict[str, list[str]]] = {}
    for (task, model), values in sorted(calls.repeats.items()):
        if task not in withheld:
            for value in values:
                if isinstance(value, Failure):
                    failures.setdefault(task, {}).setdefault(model, []).append(value.outcome)
    return [
        f"{calls.submission} on {task}: failed repetitions, which affect no score: "
        f"{counted(Counter(chain(*models.values())))}, on {abbreviated(list(models))}"
        for task, models in failures.items()
    ]


def _varying(
    name: str, values: Mapping[Cell, Value], repeats: Mapping[Cell, Sequence[Value]], withheld: Collection[str]
) -> list[str]:
    """Return a remark on the first model with different values, or []. A model of a hidden task is not named."""
    says = f"{name} calls itself deterministic (metadata), but"
    secret = []
    for cell, others in repeats.items():
        task, model = cell
        found = list(dict.fromkeys(value for value in (values.get(cell), *others) if isinstance(value, float)))
        if len(found) < 2:
            continue
        if task not in withheld:
            return [f"{says} another seed gave another value: {found[0]!r} and {found[1]!r} on {task}/{model}"]
        secret = [f"{says} another seed gave another value on a withheld task"]
    return secret
