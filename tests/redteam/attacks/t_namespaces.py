"""Makes and joins namespaces, in which it would have every capability."""

import ctypes
import os

EXPECT = ("OK",)
ON_PLATFORM = ("FORBIDDEN",)  # root may read the directory by its mode, and Landlock refuses
FLAGS = (0x10000000, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x20000000, 0x40000000, 0x80)
SIGCHLD = 17


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    for flag in FLAGS:
        if libc.unshare(flag) == 0:
            print(f"BREACH: unshare {flag:#x}")
        child = libc.syscall(56, ctypes.c_long(flag | SIGCHLD), 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        if child > 0:
            print(f"BREACH: clone {flag:#x}")
    for name in os.listdir("/proc/1/ns") if os.access("/proc/1/ns", os.R_OK) else ():
        if libc.setns(os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0) == 0:
            print(f"BREACH: setns {name}")
    return 1.0
