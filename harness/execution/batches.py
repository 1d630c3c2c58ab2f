"""Groups calls that may share a sandbox into batches."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from harness.execution.order import Order
from harness.submission import write_files

T = TypeVar("T")

#: Calls that are made in the same sandbox, one after the other.
Batch = tuple[Order, ...]


def make_batches(orders: Sequence[Order]) -> list[Batch]:
    """Group orders into batches, each for one sandbox. Batches are sorted by the positions of their first orders."""
    return [batch for group in grouped(orders, lambda order: order.sandbox) for batch in _without_repeats(group)]


def grouped(items: Sequence[T], sandbox: Callable[[T], Hashable | None]) -> list[list[T]]:
    """Group items by the key `sandbox(item)`. An item with the key None is a group of its own.

    Groups are in the order of their first items.
    """
    groups: dict[Hashable, list[T]] = {}
    for position, item in enumerate(items):
        shared = sandbox(item)
        groups.setdefault((position,) if shared is None else shared, []).append(item)
    return list(groups.values())


def _without_repeats(group: list[Order]) -> list[Batch]:
    """Return `group` as one batch; but if two of its orders have the same key, return a batch for each order."""
    if len({order.key for order in group}) == len(group):
        return [tuple(group)]
    return [(order,) for order in group]


def modules(batch: Batch) -> dict[int, str]:
    """Return number of an order -> name of the submission's module in the directory of the batch.

    Only a participant's module is called `complexity`. From the name, the worker decides whether the code may date from
    2020 (`harness.worker.runtimes.keras2`).
    """
    return {
        order.number: f"baseline_{position}" if order.is_baseline else "complexity"
        for position, order in enumerate(batch)
    }


def write_batch(batch: Batch, files: Callable[[str], Mapping[str, bytes]], directory: Path) -> None:
    """Write the submissions of a batch into a directory.

    A copy of each complexity.py has the submission's name in `modules`.
    """
    together: dict[str, bytes] = {}
    names = modules(batch)
    for order in batch:
        own = files(order.submission)
        together |= {**own, f"{names[order.number]}.py": own["complexity.py"]}
    write_files(together, directory)
