"""Finds the call to blame when the machine runs out of memory.

The memory watch sees the memory of processes. A call can make the kernel allocate memory that the watch does not see,
until the machine has none left; the memory freed by ending the call then shows how much it held.
"""

import threading
from collections.abc import Callable

from harness.machine_memory import usable_memory

#: Share of the machine's memory below which calls are ended.
RESERVE = 0.05

#: Calls are ended one at a time, to attribute the freed memory to the right one. It may be enough to spare the next.
ENDING = threading.Lock()


def is_exhausted() -> bool:
    """Return whether the machine is about to run out of memory."""
    memory = usable_memory()
    return memory.available < RESERVE * memory.total


def end_and_measure(end: Callable[[], object]) -> int | None:
    """End a call and return the bytes that this freed; None, leaving the call alone, if the machine has recovered."""
    with ENDING:
        if not is_exhausted():
            return None
        before = usable_memory().available
        end()
        return max(usable_memory().available - before, 0)
