"""Asks which parts of shared files are in the page cache, into which an earlier call may have read them.

Calls that query or change the page cache are refused. The time of a read and its page faults are not hidden.
"""

import ctypes
import mmap
import os
import sys

EXPECT = ("OK",)
CACHESTAT, MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE, PAGE = 451, 20, 21, 25, 4096
RWF_NOWAIT = 8


def complexity(model, dataset):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.madvise.argtypes = libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    libc.readahead.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_size_t]
    pages, answer = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    for path in (os.__file__, sys.executable):
        shared = os.open(path, os.O_RDONLY)
        address = libc.mmap(None, PAGE, mmap.PROT_READ, mmap.MAP_SHARED, shared, 0)
        calls = {
            "preadv2": lambda: os.preadv(shared, [bytearray(PAGE)], 0, RWF_NOWAIT),
            "cachestat": lambda: libc.syscall(CACHESTAT, shared, pages, answer, 0),
            "mincore": lambda: libc.mincore(address, PAGE, pages),
            "readahead": lambda: libc.readahead(shared, 0, PAGE),
            **{f"fadvise {advice}": lambda a=advice: os.posix_fadvise(shared, 0, PAGE, a) for advice in (2, 3, 4)},
            **{
                f"madvise {advice}": lambda a=advice: libc.madvise(address, PAGE, a)
                for advice in (MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE)
            },
        }
        for name, call in calls.items():
            try:
                if (call() or 0) >= 0:
                    print(f"BREACH: {name}")
            except BlockingIOError:
                print(f"BREACH: {name} says that it is not in memory")
            except OSError:
                pass
    return 1.0
