"""Lends pages to pipes and unmaps them: four bytes in a pipe keep all of a page of 2 MiB. Lending is refused."""

import ctypes
import mmap
import os
import time

EXPECT = ("OK",)
HUGE, ROUNDS, SLOTS = 2 << 20, 32, 16
MADV_HUGEPAGE = 14


class Piece(ctypes.Structure):
    """`struct iovec`."""

    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def complexity(model, dataset):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.vmsplice.argtypes = [ctypes.c_int, ctypes.POINTER(Piece), ctypes.c_ulong, ctypes.c_uint]
    size, pipes, lent = (SLOTS + 1) * HUGE, [], 0
    for _ in range(ROUNDS):
        pipes.append(os.pipe())
        start = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        libc.madvise(start, size, MADV_HUGEPAGE)
        first = -(-start // HUGE) * HUGE
        for page in range(first, first + SLOTS * HUGE, HUGE):
            ctypes.memset(page, 1, 1)
            lent += libc.vmsplice(pipes[-1][1], ctypes.byref(Piece(page, 4)), 1, 0) == 4
        libc.munmap(start, size)
    if lent:
        time.sleep(0.5)
        print(f"BREACH: {lent * HUGE >> 20} MiB in pipes", flush=True)
    return 1.0
