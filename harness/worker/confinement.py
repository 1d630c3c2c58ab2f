"""Moves a forked process into a prepared sandbox and drops all its privileges, irrevocably.

The process joins the namespaces of the sandbox, changes the user, drops every capability and installs the system-call
filter. bubblewrap does the same for a process that it starts.
"""

import ctypes
import os
import struct

#: Namespace flags of setns(2): mount, cgroup, UTS, IPC, PID, network; and user.
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
    """Join all namespaces of the process behind `pidfd`; the PID namespace takes effect at the next fork."""
    flags = NAMESPACES | (USER_NAMESPACE if with_user else 0)
    _check(_libc.setns(pidfd, flags), "setns")


def give_up_privileges(uid: int | None) -> None:
    """Switch to the user `uid` (None: keep the current one), and drop all groups and capabilities, irrevocably."""
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # beyond the kernel's last capability
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, bytes(24)), "capset")
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(_libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable")  # the process owns its /proc entries again


def filter_system_calls(program: bytes) -> None:
    """Install a BPF program as the system-call filter of this process."""
    instructions = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]

    loaded = Program(len(program) // 8, ctypes.addressof(instructions))
    _check(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0), "seccomp")
