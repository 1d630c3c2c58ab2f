"""Groups the orders that share a sandbox (`Order.sandbox`)."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from harness.execution.order import Order
from harness.submission import write_files

T = TypeVar("T")

#: The orders that one sandbox carries out, in order.
Batch = tuple[Order, ...]


def make_batches(orders: Sequence[Order]) -> list[Batch]:
    """Group the calls that may share a sandbox; batches are in the order of their first calls."""
    return [batch for group in grouped(orders, lambda order: order.sandbox) for batch in _without_repeats(group)]


def grouped(items: Sequence[T], sandbox: Callable[[T], Hashable | None]) -> list[list[T]]:
    """Group items with equal keys by `sandbox`; an item with None is alone. First items decide the order of groups."""
    groups: dict[Hashable, list[T]] = {}
    for position, item in enumerate(items):
        shared = sandbox(item)
        groups.setdefault((position,) if shared is None else shared, []).append(item)
    return list(groups.values())


def _without_repeats(group: list[Order]) -> list[Batch]:
    """Split a group that contains a call twice into single calls: the second needs its own sandbox."""
    if len({order.key for order in group}) == len(group):
        return [tuple(group)]
    return [(order,) for order in group]


def modules(batch: Batch) -> dict[int, str]:
    """Return, by numbers of the orders, the names of the modules that `write_batch` writes.

    Each has a function `complexity`. A participant's module is always called `complexity`, a baseline's never: the
    worker uses the name to decide whether the code may date from 2020 (`harness.worker.runtimes.keras2`).
    """
    return {
        order.number: f"baseline_{position}" if order.is_baseline else "complexity"
        for position, order in enumerate(batch)
    }


def write_batch(batch: Batch, files: Callable[[str], Mapping[str, bytes]], directory: Path) -> None:
    """Write the files of a batch's submissions; files with the same path are equal, except complexity.py."""
    together: dict[str, bytes] = {}
    names = modules(batch)
    for order in batch:
        own = files(order.submission)
        together |= {**own, f"{names[order.number]}.py": own["complexity.py"]}
    write_files(together, directory)
