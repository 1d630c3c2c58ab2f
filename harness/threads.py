"""Yields the results of several threads as they arrive."""

import queue
import threading
from collections.abc import Generator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def run_threads(
    threads: Sequence[threading.Thread], results: "queue.SimpleQueue[Item | BaseException | None]"
) -> Generator[Item]:
    """Start threads, and yield their results from a queue until all threads have ended.

    Each thread puts its results, and finally None, into the queue. An exception in the queue is raised here.
    """
    for thread in threads:
        thread.start()
    working = len(threads)
    while working:
        item = results.get()
        if isinstance(item, BaseException):
            raise item
        if item is None:
            working -= 1
        else:
            yield item
