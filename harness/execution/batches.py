"""Groups calls that share a sandbox: those of the harness' own baselines on one model, which then share work.

A participant's submission always has a sandbox to itself. Repetitions share with those of the same number only: what
baselines keep for each other must not carry random draws from a call to its repetition.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.execution.plan import PlannedCall

#: Calls made in one sandbox, one after the other.
Batch = tuple[PlannedCall, ...]


def make_batches(calls: Sequence[PlannedCall]) -> list[Batch]:
    """Group the calls that may share a sandbox; batches are in the order of their first calls."""
    groups: dict[object, list[PlannedCall]] = {}
    for number, call in enumerate(calls):
        shares = call.submission.is_baseline and call.submission.problem is None
        place = (call.task.name, call.model.id, call.runtime, call.repeat)
        groups.setdefault(place if shares else number, []).append(call)
    return [batch for group in groups.values() for batch in _without_repeats(group)]


def _without_repeats(group: list[PlannedCall]) -> list[Batch]:
    """Split a group in which a call occurs twice into single calls: the repetition needs its own sandbox."""
    distinct = {call.key: call for call in group}
    if len(distinct) == len(group):
        return [tuple(group)]
    return [(call,) for call in group]


def modules(batch: Batch) -> dict[str, str]:
    """Return, by keys of the calls, the names of the modules that `write_batch` writes, with a function `complexity`.

    A participant's module is always called `complexity`, a baseline's never: the worker uses the name to decide
    whether the code may date from 2020 (`harness.worker.runtimes.keras2`).
    """
    return {
        planned.key: f"baseline_{number}" if planned.submission.is_baseline else "complexity"
        for number, planned in enumerate(batch)
    }


def write_batch(batch: Batch, directory: Path) -> None:
    """Write the files of a batch's submissions; those that have one path are alike, but for complexity.py."""
    together: dict[str, bytes] = {}
    names = modules(batch)
    for planned in batch:
        files = planned.submission.files
        together |= files | {f"{names[planned.key]}.py": files["complexity.py"]}
    replace(batch[0].submission, files=together).write(directory)
