"""The wall clock and the deadline of a call."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from harness.sandbox.process import Interrupted

#: Seconds between two checks of the time, and of memory and output.
TICK = 0.05

#: Seconds without activity after which the harness counts as stopped, for example by Ctrl-Z or in a frozen virtual
#: machine. A shorter pause counts as time of the call.
PAUSE_S = 2.0


class Clock:
    """A countdown of `total_s` seconds, which several calls may share. The times of concurrent calls add up."""

    def __init__(self, total_s: float, meaning: str) -> None:
        self.meaning = meaning  #: name of the limit, e.g. "the time limit of 300 s"
        self._total_s, self._used_s = total_s, 0.0
        self._running: list[float] = []
        self._lock = threading.Lock()

    def start(self) -> float:
        """Begin to count the time of a call. Return this moment (`time.monotonic`)."""
        started = time.monotonic()
        with self._lock:
            self._running.append(started)
        return started

    def stop(self, started: float, ended: float | None = None) -> float:
        """Count and return the seconds of a call from `started`, the result of `start`, to `ended` (default: now)."""
        used = (time.monotonic() if ended is None else ended) - started
        with self._lock:
            self._running.remove(started)
            self._used_s += used
        return used

    def spend(self, seconds: float) -> None:
        """Subtract seconds that an earlier call has used. A negative number gives seconds back."""
        with self._lock:
            self._used_s += seconds

    def left(self) -> float:
        """Return the seconds that remain for all running calls together; negative if the calls used too many."""
        with self._lock:
            now = time.monotonic()
            return self._total_s - self._used_s - sum(now - started for started in self._running)


class Deadline:
    """A context with a thread that calls the function `end` after `seconds`, unless the context is left earlier.

    The thread also calls `end` if the harness itself was paused meanwhile, because the measured time is then wrong.
    Raise `Interrupted` if the system has no more threads.
    """

    def __init__(self, seconds: float, end: Callable[[], None]) -> None:
        self.passed_at: float | None = None  #: monotonic time; None if the deadline has not passed
        self.paused_s = 0.0  #: seconds for which the harness was paused; complete once the context has been left
        self._seconds, self._end = seconds, end
        self._over = threading.Event()

    def __enter__(self) -> Self:
        began = time.monotonic(), time.process_time()
        self._thread = threading.Thread(target=self._keep, args=began)
        try:
            self._thread.start()
        except RuntimeError as error:  # other calls may have started too many processes
            raise Interrupted(f"the deadline cannot be watched: {error}") from error
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def _keep(self, now: float, explained_s: float) -> None:
        ends = now + self._seconds
        while True:
            is_over = self._over.wait(max(min(TICK, ends - now), 0.0))
            before, now = now, time.monotonic()
            explained_before, explained_s = explained_s, _explained_s()
            gap = (now - before) - (explained_s - explained_before)
            if gap >= PAUSE_S:
                self.paused_s = gap
                break
            if is_over:
                return
            if now >= ends:
                self.passed_at = now
                break
        self._end()


def _explained_s() -> float:
    """Return the seconds for which this thread waited for a processor, plus the processor time of this process.

    These seconds explain why the thread runs late on a busy machine. They do not grow while the process is paused.
    Some kernels do not count the time of waiting.
    """
    waited = 0.0
    with suppress(OSError, ValueError, IndexError):
        waited = int(Path("/proc/thread-self/schedstat").read_bytes().split()[1]) / 1e9
    return waited + time.process_time()
