"""Clears the signal that its parent's death sends, so that it would outlive the harness."""

import ctypes
import signal

EXPECT = ("OK",)
PRCTL, PR_SET_PDEATHSIG = 157, 1


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    for option in (PR_SET_PDEATHSIG, PR_SET_PDEATHSIG | 1 << 32, PR_SET_PDEATHSIG | 1 << 63):
        for number in (0, signal.SIGCHLD, 1 << 32):
            if libc.syscall(PRCTL, ctypes.c_ulong(option), ctypes.c_ulong(number), 0, 0, 0) == 0:
                print(f"BREACH: prctl {option:#x}, {number:#x}")
    return 1.0
