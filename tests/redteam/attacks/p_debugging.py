"""Debugging other processes."""

import ctypes
import os
import signal

from attack_suite import expected
from tools import LIBC, call_all

CLONE, CLONE_PIDFD = 56, 0x1000


@expected("OK")
def p_process_vm(model, dataset):
    """Makes the system calls that access other processes' memory and descriptors, on its own process and a child."""
    buffer = ctypes.create_string_buffer(16)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 16)
    own = os.getpid()
    child = ctypes.c_int()
    if LIBC.syscall(CLONE, CLONE_PIDFD | signal.SIGCHLD, None, ctypes.byref(child), None, None) == 0:
        signal.pause()
    descriptor = child.value
    calls = {
        "process_vm_readv": lambda: LIBC.process_vm_readv(own, vector, 1, vector, 1, 0),
        "process_vm_writev": lambda: LIBC.process_vm_writev(own, vector, 1, vector, 1, 0),
        "pidfd_getfd": lambda: LIBC.syscall(438, descriptor, 0, 0),
        "kcmp": lambda: LIBC.syscall(312, own, own, 0, 0, 0),
        "process_madvise": lambda: LIBC.syscall(440, descriptor, vector, 1, 21, 0),
    }
    call_all(calls)


PTRACE_ATTACH, PTRACE_SEIZE, PTRACE_TRACEME = 16, 0x4206, 0


@expected("OK")
def p_ptrace(model, dataset):
    """Traces the first process, its own parent, and a child of its own."""
    for pid in {1, 2, os.getppid()} - {os.getpid()}:
        for request in (PTRACE_SEIZE, PTRACE_ATTACH):
            if LIBC.ptrace(request, pid, 0, 0) == 0:
                print(f"BREACH: traces {pid}")
    if LIBC.ptrace(PTRACE_TRACEME, 0, 0, 0) == 0:
        print("BREACH: ptrace")
