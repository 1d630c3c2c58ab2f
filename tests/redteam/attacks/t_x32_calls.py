"""Makes a system call by the x32 interface, whose numbers have an extra bit. It is fatal, or unknown to the kernel."""

import ctypes
import os
import platform

EXPECT = ("CRASH",)
X32_GETPID = 0x40000027


def complexity(model, dataset):
    if platform.machine() != "x86_64":
        os._exit(0)
    if ctypes.CDLL(None).syscall(X32_GETPID) >= 0:
        print("BREACH: x32")
    return 0.0
