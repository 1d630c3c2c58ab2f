"""Looks at what a call uses, without waiting for it.

Whoever asks for the size of a process waits for its memory to be unlocked: for seconds where hundreds of processes
fork on a busy machine, for ever where a driver is stuck. The clock and the result of a call must not wait for that.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from harness.sandbox.memory import Usage


class Watch:
    """Measures again and again, one measurement at a time, each in a thread of its own.

    What takes longer than `patience_s` seconds is not waited for, and is followed by a rest that is as long.
    """

    def __init__(self, measure: Callable[[], Usage], patience_s: float) -> None:
        self._measure, self._patience_s = measure, patience_s
        self._result: Future[Usage] | None = None
        self._began = self._rests_until = 0.0

    def look(self) -> Usage | None:
        """Return a measurement, new or begun at an earlier look; None if there is none yet."""
        now = time.monotonic()
        if self._result is None:
            if now < self._rests_until:
                return None
            self._result, self._began = Future(), now
            threading.Thread(target=self._run, args=(self._result,), daemon=True).start()
        try:
            usage = self._result.result(self._patience_s)
        except TimeoutError:
            return None
        self._result = None
        took = time.monotonic() - self._began
        if took > self._patience_s:
            self._rests_until = self._began + 2 * took
        return usage

    def _run(self, result: Future[Usage]) -> None:
        try:
            result.set_result(self._measure())
        except BaseException as error:  # whoever looks gets it
            result.set_exception(error)
