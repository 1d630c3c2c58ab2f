"""Fills an anonymous shared mapping and drops its pages from the page tables: the kernel keeps them nevertheless.

Shared memory without a file is refused.
"""

import mmap
import time

EXPECT = ("FORBIDDEN",)
SIZE, PIECE = 992 << 20, 16 << 20


def complexity(model, dataset):
    shared = mmap.mmap(-1, SIZE)
    for start in range(0, SIZE, PIECE):
        shared[start : start + PIECE] = b"x" * PIECE
        shared.madvise(mmap.MADV_DONTNEED, start, PIECE)
    time.sleep(0.5)
    print(f"BREACH: {SIZE >> 20} MiB in a mapping without resident pages", flush=True)
    return float(shared[0])
