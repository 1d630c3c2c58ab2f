"""Lets the process of a test have little more memory than it has."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Address space beside what there is, in bytes.
SPARE = 2 * 1024**3


@contextmanager
def little_memory(spare: int = SPARE) -> Iterator[None]:
    """Bound the address space of this process for the context: whatever needs more raises `MemoryError`."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + spare, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
