"""Makes a namespace by clone3, whose flags lie in memory where no filter sees them. It does not exist here."""

import ctypes
import os

EXPECT = ("OK",)


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
    child = libc.syscall(435, arguments, ctypes.sizeof(arguments))
    if child == 0:
        os._exit(0)
    if child > 0:
        print("BREACH: clone3")
    return 1.0
