"""Debugging other processes."""

import ctypes
import os

from attack_suite import expected
from tools import call_all


@expected("OK")
def p_process_vm(model, dataset):
    """Makes the system calls that access other processes' memory and descriptors, on its own process."""
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
    call_all(calls)


PTRACE_ATTACH, PTRACE_SEIZE, PTRACE_TRACEME = 16, 0x4206, 0


@expected("OK")
def p_ptrace(model, dataset):
    """Traces the first process, its own parent, and a child of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in {1, 2, os.getppid()} - {os.getpid()}:
        for request in (PTRACE_SEIZE, PTRACE_ATTACH):
            if libc.ptrace(request, pid, 0, 0) == 0:
                print(f"BREACH: traces {pid}")
    if libc.ptrace(PTRACE_TRACEME, 0, 0, 0) == 0:
        print("BREACH: ptrace")
