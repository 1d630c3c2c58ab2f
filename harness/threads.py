"""Yields the results of several threads as they arrive."""

import queue
import threading
from collections.abc import Generator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def run_threads(
    threads: Sequence[threading.Thread], results: "queue.SimpleQueue[Item | BaseException | None]"
) -> Generator[Item]:
    """Start the threads, and yield their results as they arrive.

    Each thread puts its results into the queue, and finally None. An error in the queue is raised.
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
