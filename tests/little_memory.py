"""Limits the memory of the test's process."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Number of bytes that the process may still allocate.
SPARE = 2 * 1024**3


@contextmanager
def little_memory(spare: int = SPARE) -> Iterator[None]:
    """In the context, this process can allocate at most `spare` more bytes; larger allocations raise `MemoryError`."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + spare, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
