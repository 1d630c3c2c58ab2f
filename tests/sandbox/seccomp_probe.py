"""Runs inside bubblewrap: makes system calls and prints their results as JSON.

The arguments of the calls are such that no call has an effect, even if it is allowed.
"""

import ctypes
import errno
import json
import mmap
import os
import threading
from collections.abc import Callable

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long  # an address may be the answer

#: Numbers of x86-64, for calls that libc gives no function for.
CLONE, CLONE3, PRCTL, IOCTL, FCNTL, KEYCTL, IO_URING_SETUP = 56, 435, 157, 16, 72, 250, 425
MEMFD_CREATE, MEMFD_SECRET, PIDFD_GETFD, PERF_EVENT_OPEN, USERFAULTFD, PIDFD_OPEN = 319, 447, 438, 298, 323, 434
PROCESS_VM_READV, KCMP, MQ_OPEN, OPEN_TREE, NAME_TO_HANDLE_AT = 310, 312, 240, 428, 303
MMAP, MADVISE, MINCORE, READAHEAD, FADVISE64, PREADV2, SYSINFO, GETSOCKOPT = 9, 28, 27, 187, 221, 327, 99, 55
SETSOCKOPT, GETXATTR, LGETXATTR, FGETXATTR, LISTXATTR, LLISTXATTR, FLISTXATTR = 54, 191, 192, 193, 194, 195, 196
SPLICE, TEE, VMSPLICE, IO_SETUP, USTAT, CACHESTAT = 275, 276, 278, 206, 136, 451
SETPRIORITY, SCHED_SETSCHEDULER, SCHED_SETATTR, IOPRIO_SET, SYNCFS = 141, 144, 314, 251, 306

AF_UNIX, AF_INET, AF_NETLINK, AF_VSOCK, SOCK_STREAM, SOCK_RAW = 1, 2, 16, 40, 1, 3
CLONE_NEWUSER, CLONE_NEWNS, CLONE_THREAD, CLONE_PARENT = 0x10000000, 0x20000, 0x10000, 0x8000
SHARED, PRIVATE, ANONYMOUS, HUGE = 1, 2, 0x20, 0x40000
MADV_NORMAL, MADV_MERGEABLE, MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE = 0, 12, 20, 21, 25
SOL_SOCKET, SO_TYPE, SO_PASSCRED, SO_COOKIE, SO_PASSPIDFD, SO_PEERPIDFD = 1, 3, 16, 57, 76, 77
TIOCSTI, TIOCLINUX, TCGETS = 0x5412, 0x541C, 0x5401
PR_SET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_MEMORY_MERGE, SIGKILL = 1, 3, 67, 9
F_SETLK, F_OFD_SETLKW, F_GETFD, F_GETLK, F_OFD_GETLK, F_GETLEASE, F_GET_RW_HINT, F_SET_RW_HINT = (
    6, 38, 1, 5, 36, 1025, 1035, 1036,
)  # fmt: skip
HIGH = 1 << 32  # bits that the kernel ignores in an argument that it takes as an int

CALLS = {
    "ptrace": lambda: LIBC.ptrace(12345, 0, 0, 0),
    "unshare": lambda: LIBC.unshare(0),
    "setns": lambda: LIBC.setns(-1, 0),
    "clone into a user namespace": lambda: raw(CLONE, CLONE_NEWUSER | CLONE_THREAD),
    "clone into a mount namespace": lambda: raw(CLONE, CLONE_NEWNS | CLONE_THREAD),
    "clone beside its parent": lambda: raw(CLONE, CLONE_PARENT | CLONE_THREAD),
    "clone3": lambda: raw(CLONE3, 0, 0),
    "a call since Linux 6.5": lambda: raw(CACHESTAT, -1, 0, 0, 0),
    "socket of the internet": lambda: LIBC.socket(AF_INET, SOCK_STREAM, 0),
    "socket of the kernel": lambda: LIBC.socket(AF_NETLINK, SOCK_RAW, 0),
    "socket of the machine's host": lambda: LIBC.socket(AF_VSOCK, SOCK_STREAM, 0),
    "socket of this machine": lambda: LIBC.socket(AF_UNIX, SOCK_STREAM, 0),
    "memfd_create": lambda: raw(MEMFD_CREATE, ctypes.c_char_p(b"x"), 0),
    "memfd_secret": lambda: raw(MEMFD_SECRET, 12345),
    "keyctl": lambda: raw(KEYCTL, 12345, 0, 0),
    "io_uring_setup": lambda: raw(IO_URING_SETUP, 0, 0),
    "perf_event_open": lambda: raw(PERF_EVENT_OPEN, 0, 0, -1, -1, 0),
    "userfaultfd": lambda: raw(USERFAULTFD, 12345),
    "process_vm_readv": lambda: raw(PROCESS_VM_READV, os.getpid(), 0, 0, 0, 0, 0),
    "shared memory without a file": lambda: raw(MMAP, 0, 0, 0, SHARED | ANONYMOUS, -1, 0),
    "shared memory in huge pages": lambda: raw(MMAP, 0, 0, 0, SHARED | ANONYMOUS | HUGE, -1, 0),
    "private memory": lambda: raw(MMAP, 0, 4096, 0, PRIVATE | ANONYMOUS, -1, 0),
    "vmsplice": lambda: raw(VMSPLICE, -1, 0, 0, 0),
    "splice": lambda: raw(SPLICE, -1, 0, -1, 0, 1, 0),
    "tee": lambda: raw(TEE, -1, -1, 1, 0),
    "preadv2": lambda: raw(PREADV2, -1, 0, 0, 0, 0, 0),
    "fadvise64": lambda: raw(FADVISE64, -1, 0, 0, 0),
    "readahead": lambda: raw(READAHEAD, -1, 0, 0),
    "mincore": lambda: raw(MINCORE, 1, 1, 0),
    "madvise cold": lambda: raw(MADVISE, 0, 0, MADV_COLD),
    "madvise out": lambda: raw(MADVISE, 0, 0, MADV_PAGEOUT),
    "madvise collapse": lambda: raw(MADVISE, 0, 0, MADV_COLLAPSE),
    "madvise mergeable": lambda: raw(MADVISE, 0, 0, MADV_MERGEABLE),
    "madvise normal": lambda: raw(MADVISE, 0, 0, MADV_NORMAL),
    "prctl to merge": lambda: raw(PRCTL, PR_SET_MEMORY_MERGE, 0, 0, 0, 0),
    "sysinfo": lambda: raw(SYSINFO, 0),
    "io_setup": lambda: raw(IO_SETUP, 0, 0),
    "ustat": lambda: raw(USTAT, 0, 0),
    "cookie of a socket": lambda: raw(GETSOCKOPT, -1, SOL_SOCKET, SO_COOKIE, 0, 0),
    "type of a socket": lambda: raw(GETSOCKOPT, -1, SOL_SOCKET, SO_TYPE, 0, 0),
    "process at the other end": lambda: raw(GETSOCKOPT, -1, SOL_SOCKET, SO_PEERPIDFD, 0, 0),
    "process that sends": lambda: raw(SETSOCKOPT, -1, SOL_SOCKET, SO_PASSPIDFD, 0, 0),
    "user that sends": lambda: raw(SETSOCKOPT, -1, SOL_SOCKET, SO_PASSCRED, 0, 0),
    "lock": lambda: raw(FCNTL, 0, F_SETLK, 0),
    "wait for a lock": lambda: raw(FCNTL, 0, F_OFD_SETLKW, 0),
    "setpriority": lambda: raw(SETPRIORITY, -1, 0, 0),
    "ioprio_set": lambda: raw(IOPRIO_SET, -1, 0, 0),
    "sched_setattr": lambda: raw(SCHED_SETATTR, 0, 0, 0),
    "schedule if idle": lambda: raw(SCHED_SETSCHEDULER, 0, os.SCHED_IDLE, 0),
    "schedule if idle, not its children": lambda: raw(SCHED_SETSCHEDULER, 0, os.SCHED_IDLE | os.SCHED_RESET_ON_FORK, 0),
    "schedule as usual": lambda: raw(SCHED_SETSCHEDULER, 0, os.SCHED_OTHER, 0),
    "syncfs": lambda: raw(SYNCFS, -1),
    "kcmp": lambda: raw(KCMP, os.getpid(), os.getpid(), 12345, 0, 0),
    "pidfd_getfd": lambda: raw(PIDFD_GETFD, -1, 0, 0),
    "pidfd_open": lambda: raw(PIDFD_OPEN, os.getpid(), 0),
    "getxattr": lambda: raw(GETXATTR, 0, 0, 0, 0),
    "lgetxattr": lambda: raw(LGETXATTR, 0, 0, 0, 0),
    "fgetxattr": lambda: raw(FGETXATTR, -1, 0, 0, 0),
    "listxattr": lambda: raw(LISTXATTR, 0, 0, 0),
    "llistxattr": lambda: raw(LLISTXATTR, 0, 0, 0),
    "flistxattr": lambda: raw(FLISTXATTR, -1, 0, 0),
    "mq_open": lambda: raw(MQ_OPEN, 0, 0),
    "open_tree": lambda: raw(OPEN_TREE, -1, 0, 12345),
    "name_to_handle_at": lambda: raw(NAME_TO_HANDLE_AT, -1, 0, 0, 0, 12345),
    "shmget": lambda: LIBC.shmget(0, 0, 0),
    "semget": lambda: LIBC.semget(0, -1, 0),
    "msgget": lambda: LIBC.msgget(12345, 0),
    "ioctl TIOCSTI": lambda: raw(IOCTL, 0, TIOCSTI, 0),
    "ioctl TIOCSTI with high bits": lambda: raw(IOCTL, 0, HIGH | TIOCSTI, 0),
    "ioctl TIOCLINUX": lambda: raw(IOCTL, 0, TIOCLINUX, 0),
    "ioctl TCGETS": lambda: raw(IOCTL, 0, TCGETS, 0),
    "fcntl F_GETFD": lambda: raw(FCNTL, 0, F_GETFD),
    "see a lock": lambda: raw(FCNTL, 0, F_GETLK, 0),
    "see a lock of a file": lambda: raw(FCNTL, 0, F_OFD_GETLK, 0),
    "see a lease": lambda: raw(FCNTL, 0, F_GETLEASE),
    "see a hint": lambda: raw(FCNTL, 0, F_GET_RW_HINT, 0),
    "leave a hint": lambda: raw(FCNTL, 0, F_SET_RW_HINT, 0),
    "leave a hint with high bits": lambda: raw(FCNTL, 0, HIGH | F_SET_RW_HINT, 0),
    "outlive the harness": lambda: raw(PRCTL, PR_SET_PDEATHSIG, 0),
    "outlive the harness with high bits": lambda: raw(PRCTL, HIGH | PR_SET_PDEATHSIG, 0),
    "die with the harness": lambda: raw(PRCTL, PR_SET_PDEATHSIG, SIGKILL),
    "prctl PR_GET_DUMPABLE": lambda: raw(PRCTL, PR_GET_DUMPABLE),
}


def raw(number: int, *arguments: object) -> int:
    """Make a system call by its number; integer arguments are as wide as a register."""
    return LIBC.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in (number, *arguments)))


def outcome(call: Callable[[], int]) -> str:
    """Return `fine`, or the name of the error."""
    ctypes.set_errno(0)
    return "fine" if call() >= 0 else errno.errorcode[ctypes.get_errno()]


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
    results = {name: outcome(call) for name, call in CALLS.items()}
    # mov eax, 20 (getpid of 32 bits); int 0x80; ret -- and: mov eax, 0x40000027 (getpid of x32); syscall; ret
    results["a call of 32 bits"] = str(fate(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"))
    results["a call of x32"] = str(fate(b"\xb8\x27\x00\x00\x40\x0f\x05\xc3"))
    thread = threading.Thread(target=results.__setitem__, args=("a thread", "fine"))
    thread.start()
    thread.join()
    print(json.dumps(results))


main()
