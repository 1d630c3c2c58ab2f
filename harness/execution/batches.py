"""Which calls are made in one sandbox: those of the harness' own baselines on one model, so that they share work.

A participant's submission always has a sandbox to itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.execution.plan import PlannedCall

#: Calls that are made in one sandbox, one after the other.
Batch = tuple[PlannedCall, ...]


def make_batches(calls: Sequence[PlannedCall]) -> list[Batch]:
    """Put together what may share a sandbox; batches come in the order of their first calls."""
    together: dict[object, list[PlannedCall]] = {}
    for number, call in enumerate(calls):
        shares = call.submission.is_baseline and call.submission.problem is None
        together.setdefault((call.task.name, call.model.id, call.keras) if shares else number, []).append(call)
    return [batch for group in together.values() for batch in _without_repeats(group)]


def _without_repeats(group: list[PlannedCall]) -> list[Batch]:
    """A call that is to be made twice is to be made in two sandboxes."""
    distinct = {call.key: call for call in group}
    if len(distinct) == len(group):
        return [tuple(group)]
    return [(call,) for call in group]


def module_of(batch: Batch, planned: PlannedCall) -> str:
    """Return the name under which `write_batch` wrote the module with a call's function `complexity`.

    A participant's is always called `complexity`, a baseline's never: by that the worker knows whether code may be of
    2020 (`harness.worker.of_2020`).
    """
    return f"baseline_{batch.index(planned)}" if planned.submission.is_baseline else "complexity"


def write_batch(batch: Batch, directory: Path) -> None:
    """Write the files of a batch's submissions; those that have one path are alike, but for complexity.py."""
    together: dict[str, bytes] = {}
    for planned in batch:
        files = planned.submission.files
        together |= files | {f"{module_of(batch, planned)}.py": files["complexity.py"]}
    replace(batch[0].submission, files=together).write(directory)
