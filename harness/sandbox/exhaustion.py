"""Whose fault it is when the machine runs out of memory.

The memory watch sees what is in processes. A call can have the kernel hold memory that it does not see, until the
machine has no more; then what comes back when the call ends says how much it had.
"""

import threading
from collections.abc import Callable

import psutil

#: Share of the machine's memory under which calls are ended.
RESERVE = 0.05

#: One call at a time is weighed, so that what comes back is its own. The next one may find that there is enough again.
WEIGHING = threading.Lock()


def is_exhausted() -> bool:
    """Whether the machine is about to run out of memory."""
    memory = psutil.virtual_memory()
    return bool(memory.available < RESERVE * memory.total)


def weigh(end: Callable[[], object]) -> int | None:
    """End a call and return how many bytes it gave back; None, and no end, if the machine has enough by now."""
    with WEIGHING:
        if not is_exhausted():
            return None
        before = psutil.virtual_memory().available
        end()
        return max(int(psutil.virtual_memory().available - before), 0)
