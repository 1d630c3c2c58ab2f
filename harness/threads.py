"""A stream of results from several threads."""

import queue
import threading
from collections.abc import Generator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def run_threads(
    threads: Sequence[threading.Thread], results: "queue.SimpleQueue[Item | BaseException | None]"
) -> Generator[Item]:
    """Start the threads, and yield their results as they come.

    A thread puts its results into the queue, then an error, if any, which is raised here, and finally None.
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
