"""Adds a system-call filter that allows everything, and asks for one that reports to itself."""

import ctypes
import socket

EXPECT = ("OK",)
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_RET_ALLOW = 22, 38, 0x7FFF0000


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    code = (ctypes.c_uint64 * 1)(SECCOMP_RET_ALLOW << 32 | 0x06)
    program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(code))
    libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0)  # may work: the stricter of two filters counts
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0:
        print("BREACH: may gain privileges")
    try:
        socket.socket(socket.AF_INET)
        print("BREACH: the filter is gone")
    except OSError:
        pass
    return 1.0
