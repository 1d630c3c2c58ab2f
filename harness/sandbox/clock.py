"""The wall clock and the deadline of a call."""

import threading
import time
from collections.abc import Callable
from typing import Self


class Clock:
    """A countdown of `total_s` seconds that runs while calls run; several calls may share one, even concurrently."""

    def __init__(self, total_s: float, meaning: str) -> None:
        self.meaning = meaning  #: name of the limit, e.g. "the time limit of 300 s"
        self._total_s, self._used_s = total_s, 0.0
        self._running: list[float] = []
        self._lock = threading.Lock()

    def start(self) -> float:
        """Start the time of a call; returns the argument for `stop`."""
        started = time.monotonic()
        with self._lock:
            self._running.append(started)
        return started

    def stop(self, started: float, ended: float | None = None) -> float:
        """Stop the time of the call that started at `started`, at `ended` or now; returns its seconds."""
        used = (time.monotonic() if ended is None else ended) - started
        with self._lock:
            self._running.remove(started)
            self._used_s += used
        return used

    def spend(self, seconds: float) -> None:
        """Deduct the seconds of a call that ended earlier."""
        with self._lock:
            self._used_s += seconds

    def left(self) -> float:
        """Return the remaining seconds, shared by all calls."""
        with self._lock:
            now = time.monotonic()
            return self._total_s - self._used_s - sum(now - started for started in self._running)


class Deadline:
    """Calls `end` after `seconds`, on time however busy other threads are; leaving the context cancels it."""

    def __init__(self, seconds: float, end: Callable[[], None]) -> None:
        self.passed_at: float | None = None  #: monotonic time; None if the deadline has not passed
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
