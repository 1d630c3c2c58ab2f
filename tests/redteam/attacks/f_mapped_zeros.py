"""Maps /dev/zero as shared, another form of shared memory without a file: its pages need not be resident."""

import mmap
import os
import time

EXPECT = ("FORBIDDEN",)
SIZE, PIECE = 992 << 20, 16 << 20


def complexity(model, dataset):
    shared = mmap.mmap(os.open("/dev/zero", os.O_RDWR), SIZE)
    for start in range(0, SIZE, PIECE):
        shared[start : start + PIECE] = b"x" * PIECE
        shared.madvise(mmap.MADV_DONTNEED, start, PIECE)
    time.sleep(0.5)
    print(f"BREACH: {SIZE >> 20} MiB in a mapping without resident pages", flush=True)
    return float(shared[0])
