"""Reads and writes other processes' memory, takes their descriptors, compares them."""

import ctypes
import os

EXPECT = ("OK",)


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(16)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 16)
    own = os.getpid()
    descriptor = os.pidfd_open(own)
    calls = {
        "process_vm_readv": lambda: libc.process_vm_readv(own, vector, 1, vector, 1, 0),
        "process_vm_writev": lambda: libc.process_vm_writev(own, vector, 1, vector, 1, 0),
        "pidfd_getfd": lambda: libc.syscall(438, descriptor, 0, 0),
        "kcmp": lambda: libc.syscall(312, own, own, 0, 0, 0),
        "process_madvise": lambda: libc.syscall(440, descriptor, vector, 1, 21, 0),
    }
    for name, call in calls.items():
        if call() >= 0:
            print(f"BREACH: {name}")
    return 1.0
