"""Moves a forked process into an existing sandbox, and takes away all its privileges for good.

The process joins the namespaces of the sandbox, becomes another user, drops every capability and installs the
system-call filter. bubblewrap does the same with processes that it starts.
"""

import ctypes
import os
import struct

#: Flags of setns(2): mount, cgroup, UTS, IPC, PID and network namespaces; user namespace.
NAMESPACES = 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x20000000 | 0x40000000
USER_NAMESPACE = 0x10000000

PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, call: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{call}: {os.strerror(error)}")


def join_namespaces(pidfd: int, *, with_user: bool) -> None:
    """Join the namespaces of the process to which `pidfd` refers. Only later forks are in its PID namespace."""
    flags = NAMESPACES | (USER_NAMESPACE if with_user else 0)
    _check(_libc.setns(pidfd, flags), "setns")


def give_up_privileges(uid: int | None) -> None:
    """Drop all groups and capabilities for good; if `uid` is not None, become this user."""
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # the kernel has no more capabilities
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, bytes(24)), "capset")
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(_libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable")  # so that the process owns its entries in /proc again


def filter_system_calls(program: bytes) -> None:
    """Install a BPF program as the system-call filter of this process."""
    instructions = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]

    loaded = Program(len(program) // 8, ctypes.addressof(instructions))
    _check(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0), "seccomp")
