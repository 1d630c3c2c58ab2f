"""Reads one byte of every 2 MiB of a huge empty mapping: no page becomes resident, but each needs a page table."""

import ctypes
import mmap
import time

EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow
SIZE, STEP, MADV_NOHUGEPAGE, MAP_NORESERVE = 640 << 30, 2 << 20, 15, 0x4000


def complexity(model, dataset):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    start = libc.mmap(None, SIZE, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    libc.madvise(start, SIZE, MADV_NOHUGEPAGE)
    for piece in range(start, start + SIZE, 1 << 30):
        (ctypes.c_char * (1 << 30)).from_address(piece)[::STEP]
    time.sleep(0.5)
    tables = next(line for line in open("/proc/self/status") if line.startswith("VmPTE"))
    print(f"BREACH: {tables}", flush=True)
    return 1.0
