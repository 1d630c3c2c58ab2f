"""Fills the scratch space with files that are neither named nor open: removed, closed, and still mapped."""

import ctypes
import mmap
import os

EXPECT = ("OK",)
UNDER_LANDLOCK = ("OUTPUT",)  # a watched directory on the disk


def complexity(model, dataset):
    libc = ctypes.CDLL(None)  # Python's own maps keep a descriptor
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    total, chunk = 0, b"x" * (1 << 20)
    try:
        for number in range(200):
            path = f"{os.environ['TMPDIR']}/{number}"
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
            os.unlink(path)
            libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
            for _ in range(32):
                total += os.write(descriptor, chunk)
            os.close(descriptor)
    except OSError:
        pass
    if total > 256 << 20:
        print(f"BREACH: {total >> 20} MiB in files without a name")
    return 1.0
