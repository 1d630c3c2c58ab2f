"""Traces the first process and its parent, and a child of its own."""

import ctypes
import os

EXPECT = ("OK",)
PTRACE_ATTACH, PTRACE_SEIZE, PTRACE_TRACEME = 16, 0x4206, 0


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in {1, 2, os.getppid()} - {os.getpid()}:
        for request in (PTRACE_SEIZE, PTRACE_ATTACH):
            if libc.ptrace(request, pid, 0, 0) == 0:
                print(f"BREACH: traces {pid}")
    if libc.ptrace(PTRACE_TRACEME, 0, 0, 0) == 0:
        print("BREACH: ptrace")
    return 1.0
