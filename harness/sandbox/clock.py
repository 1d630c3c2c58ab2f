"""The wall clock that ends calls."""

import threading
import time
from collections.abc import Callable
from typing import Self


class Clock:
    """Counts down `total_s` seconds while calls run; several calls may share one, also side by side."""

    def __init__(self, total_s: float, meaning: str) -> None:
        self.meaning = meaning  #: what was exceeded, e.g. "the time limit of 300 s"
        self._total_s, self._used_s = total_s, 0.0
        self._running: list[float] = []
        self._lock = threading.Lock()

    def start(self) -> float:
        """A call starts to use time; give what this returns to `stop`."""
        started = time.monotonic()
        with self._lock:
            self._running.append(started)
        return started

    def stop(self, started: float, ended: float | None = None) -> float:
        """The call that started at `started` was over at `ended`, or is now; returns its seconds."""
        used = (time.monotonic() if ended is None else ended) - started
        with self._lock:
            self._running.remove(started)
            self._used_s += used
        return used

    def spend(self, seconds: float) -> None:
        """Count a call that was over before."""
        with self._lock:
            self._used_s += seconds

    def left(self) -> float:
        """Seconds that are left, to all calls together."""
        with self._lock:
            now = time.monotonic()
            return self._total_s - self._used_s - sum(now - started for started in self._running)


class Deadline:
    """Ends something after `seconds`, on time whatever the other threads are busy with; a context that calls it off."""

    def __init__(self, seconds: float, end: Callable[[], None]) -> None:
        self.passed_at: float | None = None  #: by the monotonic clock; None if it did not pass
        self._end = end
        self._timer = threading.Timer(seconds, self._pass)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._timer.cancel()
        self._timer.join()

    def _pass(self) -> None:
        self.passed_at = time.monotonic()
        self._end()
