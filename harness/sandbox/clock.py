"""The wall clock that ends calls."""

import threading
import time


class Clock:
    """Counts down `total_s` seconds while calls run; several calls may share one, also side by side."""

    def __init__(self, total_s: float, meaning: str, used_s: float = 0.0) -> None:
        self.meaning = meaning  #: what was exceeded, e.g. "the time limit of 300 s"
        self._total_s, self._used_s = total_s, used_s
        self._running: list[float] = []
        self._lock = threading.Lock()

    def start(self) -> float:
        """A call starts to use time; give what this returns to `stop`."""
        started = time.monotonic()
        with self._lock:
            self._running.append(started)
        return started

    def stop(self, started: float) -> float:
        """The call that started at `started` is over; returns its seconds."""
        used = time.monotonic() - started
        with self._lock:
            self._running.remove(started)
            self._used_s += used
        return used

    def left(self) -> float:
        """Seconds that are left, to all calls together."""
        with self._lock:
            now = time.monotonic()
            return self._total_s - self._used_s - sum(now - started for started in self._running)
