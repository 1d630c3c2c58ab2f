"""Runs inside bubblewrap: makes system calls and prints their results as JSON.

The arguments of the calls are such that no call has an effect, even if it is allowed.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import signal
import socket
import termios
import threading
from typing import Any

import pyseccomp

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long  # an address may be the answer

#: Numbers that the modules of Python do not have.
CLONE_NEWUSER, CLONE_NEWNS, CLONE_THREAD, CLONE_PARENT, HUGE = 0x10000000, 0x20000, 0x10000, 0x8000, 0x40000
MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE, SO_COOKIE, SO_PASSPIDFD, SO_PEERPIDFD = 20, 21, 25, 57, 76, 77
PR_SET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_MEMORY_MERGE, TIOCLINUX = 1, 3, 67, 0x541C
F_OFD_GETLK, F_OFD_SETLKW, F_GETLEASE, F_GET_RW_HINT, F_SET_RW_HINT = 36, 38, 1025, 1035, 1036
SHARED, PRIVATE = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
HIGH = 1 << 32  # bits that the kernel ignores in an argument that it takes as an int

#: What is tried -> the system call and its arguments.
CALLS: dict[str, tuple[Any, ...]] = {
    "clone into a user namespace": ("clone", CLONE_NEWUSER | CLONE_THREAD),
    "clone into a mount namespace": ("clone", CLONE_NEWNS | CLONE_THREAD),
    "clone beside its parent": ("clone", CLONE_PARENT | CLONE_THREAD),
    "a call since Linux 6.5": ("cachestat", -1, 0, 0, 0),
    "socket of the internet": ("socket", socket.AF_INET, socket.SOCK_STREAM, 0),
    "socket of the kernel": ("socket", socket.AF_NETLINK, socket.SOCK_RAW, 0),
    "socket of the machine's host": ("socket", socket.AF_VSOCK, socket.SOCK_STREAM, 0),
    "socket of this machine": ("socket", socket.AF_UNIX, socket.SOCK_STREAM, 0),
    "shared memory without a file": ("mmap", 0, 0, 0, SHARED, -1, 0),
    "shared memory in huge pages": ("mmap", 0, 0, 0, SHARED | HUGE, -1, 0),
    "private memory": ("mmap", 0, 4096, 0, PRIVATE, -1, 0),
    "madvise cold": ("madvise", 0, 0, MADV_COLD),
    "madvise out": ("madvise", 0, 0, MADV_PAGEOUT),
    "madvise collapse": ("madvise", 0, 0, MADV_COLLAPSE),
    "madvise mergeable": ("madvise", 0, 0, mmap.MADV_MERGEABLE),
    "madvise normal": ("madvise", 0, 0, mmap.MADV_NORMAL),
    "prctl to merge": ("prctl", PR_SET_MEMORY_MERGE, 0, 0, 0, 0),
    "cookie of a socket": ("getsockopt", -1, socket.SOL_SOCKET, SO_COOKIE, 0, 0),
    "type of a socket": ("getsockopt", -1, socket.SOL_SOCKET, socket.SO_TYPE, 0, 0),
    "process at the other end": ("getsockopt", -1, socket.SOL_SOCKET, SO_PEERPIDFD, 0, 0),
    "process that sends": ("setsockopt", -1, socket.SOL_SOCKET, SO_PASSPIDFD, 0, 0),
    "user that sends": ("setsockopt", -1, socket.SOL_SOCKET, socket.SO_PASSCRED, 0, 0),
    "lock": ("fcntl", 0, fcntl.F_SETLK, 0),
    "wait for a lock": ("fcntl", 0, F_OFD_SETLKW, 0),
    "schedule if idle": ("sched_setscheduler", 0, os.SCHED_IDLE, 0),
    "schedule if idle, not its children": ("sched_setscheduler", 0, os.SCHED_IDLE | os.SCHED_RESET_ON_FORK, 0),
    "schedule as usual": ("sched_setscheduler", 0, os.SCHED_OTHER, 0),
    "ioctl TIOCSTI": ("ioctl", 0, termios.TIOCSTI, 0),
    "ioctl TIOCSTI with high bits": ("ioctl", 0, HIGH | termios.TIOCSTI, 0),
    "ioctl TIOCLINUX": ("ioctl", 0, TIOCLINUX, 0),
    "ioctl TCGETS": ("ioctl", 0, termios.TCGETS, 0),
    "fcntl F_GETFD": ("fcntl", 0, fcntl.F_GETFD),
    "see a lock": ("fcntl", 0, fcntl.F_GETLK, 0),
    "see a lock of a file": ("fcntl", 0, F_OFD_GETLK, 0),
    "see a lease": ("fcntl", 0, F_GETLEASE),
    "see a hint": ("fcntl", 0, F_GET_RW_HINT, 0),
    "leave a hint": ("fcntl", 0, F_SET_RW_HINT, 0),
    "leave a hint with high bits": ("fcntl", 0, HIGH | F_SET_RW_HINT, 0),
    "outlive the harness": ("prctl", PR_SET_PDEATHSIG, 0),
    "outlive the harness with high bits": ("prctl", HIGH | PR_SET_PDEATHSIG, 0),
    "die with the harness": ("prctl", PR_SET_PDEATHSIG, signal.SIGKILL),
    "prctl PR_GET_DUMPABLE": ("prctl", PR_GET_DUMPABLE),
}
#: The same of calls that are tried under their own names.
NAMED = {
    "unshare": (0,), "memfd_create": (ctypes.c_char_p(b"x"), 0), "process_vm_readv": (os.getpid(), 0, 0, 0, 0, 0),
    "process_vm_writev": (os.getpid(), 0, 0, 0, 0, 0),
    "perf_event_open": (0, 0, -1, -1, 0), "splice": (-1, 0, -1, 0, 1, 0), "tee": (-1, -1, 1, 0), "mincore": (1, 1, 0),
    "kcmp": (os.getpid(), os.getpid(), 12345, 0, 0), "pidfd_open": (os.getpid(), 0), "open_tree": (-1, 0, 12345),
    "name_to_handle_at": (-1, 0, 0, 0, 12345), "semget": (0, -1, 0),
    **dict.fromkeys(["ptrace", "memfd_secret", "userfaultfd", "keyctl", "msgget"], (12345, 0, 0, 0)),
    **dict.fromkeys(
        ["clone3", "io_uring_setup", "io_setup", "sysinfo", "ustat", "sched_setattr", "mq_open", "shmget", "getxattr",
         "lgetxattr", "listxattr", "llistxattr"], (0, 0, 0, 0),
    ),
    **dict.fromkeys(
        ["setns", "vmsplice", "preadv2", "fadvise64", "readahead", "setpriority", "ioprio_set", "syncfs",
         "pidfd_getfd", "fgetxattr", "flistxattr"], (-1, 0, 0, 0, 0, 0),
    ),
}  # fmt: skip


def outcome(call: str, *arguments: object) -> str:
    """Make a system call, with integers as wide as a register; return `fine`, or the name of the error."""
    ctypes.set_errno(0)
    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call)
    result = LIBC.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in (number, *arguments)))
    return "fine" if result >= 0 else errno.errorcode[ctypes.get_errno()]


def fate(program: bytes) -> int:
    """Return the exit status of a child that runs this machine code, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        memory = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        memory.write(program)
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    results = {name: outcome(*call) for name, call in CALLS.items()}
    results |= {name: outcome(name, *arguments) for name, arguments in NAMED.items()}
    # mov eax, 20 (getpid of 32 bits); int 0x80; ret -- and: mov eax, 0x40000027 (getpid of x32); syscall; ret
    results["a call of 32 bits"] = str(fate(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"))
    results["a call of x32"] = str(fate(b"\xb8\x27\x00\x00\x40\x0f\x05\xc3"))
    thread = threading.Thread(target=results.__setitem__, args=("a thread", "fine"))
    thread.start()
    thread.join()
    print(json.dumps(results))


main()
