"""Asks the kernel to merge equal pages of all processes, through which calls could learn each other's content."""

import ctypes
import mmap

EXPECT = ("OK",)
MADV_MERGEABLE, PR_SET_MEMORY_MERGE = 12, 67


def complexity(model, dataset):
    own = mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        own.madvise(MADV_MERGEABLE)
        print("BREACH: madvise")
    except OSError:
        pass
    if ctypes.CDLL(None).prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0) == 0:
        print("BREACH: prctl")
    return 1.0
