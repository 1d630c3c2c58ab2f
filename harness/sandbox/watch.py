"""Samples the usage of a call without blocking, and finds the call to blame when the machine runs out of memory.

Reading the size of a process waits for the lock on its memory: for seconds where hundreds of processes fork on a busy
machine, for ever where a driver is stuck. The clock and the result of a call must not wait for that.

A call can make the kernel allocate memory that no process has, until the machine has none left; the memory freed by
ending the call then shows how much it held.
"""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from harness.machine_memory import usable_memory
from harness.sandbox.memory import Usage


class Watch:
    """Measures repeatedly, one measurement at a time, in a thread of its own until it is closed.

    A measurement that takes longer than `patience_s` seconds is not waited for, and a pause of the same length follows.
    """

    def __init__(self, measure: Callable[[], Usage], patience_s: float) -> None:
        self._measure, self._patience_s = measure, patience_s
        self._asked: queue.SimpleQueue[Future[Usage] | None] = queue.SimpleQueue()
        self._result: Future[Usage] | None = None
        self._began = self._rests_until = 0.0
        threading.Thread(target=self._run, daemon=True).start()

    def sample(self) -> Usage | None:
        """Return a measurement, new or begun by an earlier call; None if none is available yet."""
        now = time.monotonic()
        if self._result is None:
            if now < self._rests_until:
                return None
            self._result, self._began = Future(), now
            self._asked.put(self._result)
        try:
            usage = self._result.result(self._patience_s)
        except TimeoutError:
            return None
        self._result = None
        took = time.monotonic() - self._began
        if took > self._patience_s:
            self._rests_until = self._began + 2 * took
        return usage

    def close(self) -> None:
        """End the thread as soon as it measures nothing."""
        self._asked.put(None)

    def _run(self) -> None:
        while (result := self._asked.get()) is not None:
            try:
                result.set_result(self._measure())
            except BaseException as error:  # `sample` raises it
                result.set_exception(error)


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
