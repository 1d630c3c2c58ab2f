"""Writes to an anonymous shared mapping, which RLIMIT_DATA would not see. Shared memory without a file is refused."""

import mmap

EXPECT = ("FORBIDDEN",)


def complexity(model, dataset):
    chunk = b"x" * (1 << 20)
    shared = mmap.mmap(-1, 2 << 30)
    for _ in range(2 << 10):
        shared.write(chunk)
    print("BREACH: 2 GiB shared")
    return 0.0
