"""The system-call filter of the sandbox: a deny list, because TensorFlow's own needs are open-ended.

Denied calls fail with EPERM, those of `NOT_THERE` as on a kernel that does not have them, for which their callers
have another way. Calls by a foreign ABI (32-bit, x32) kill the process at once.
"""

import errno
import importlib
import os
import signal
from functools import cache
from typing import Any

from harness.errors import UserError

#: System calls that neither Python nor TensorFlow on a CPU needs and that widen what a submission can reach.
DENIED = (
    "acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "create_module",
    "delete_module", "fanotify_init", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "init_module",
    "inotify_add_watch", "inotify_init", "inotify_init1",
    "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl", "kcmp", "kexec_file_load",
    "kexec_load", "keyctl", "landlock_create_ruleset", "memfd_secret", "mount", "mount_setattr", "move_mount",
    "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget",
    "msgrcv", "msgsnd", "name_to_handle_at", "open_by_handle_at", "open_tree", "perf_event_open", "personality",
    "pidfd_getfd", "pivot_root", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace",
    "quotactl", "quotactl_fd", "reboot", "request_key", "semctl", "semget", "semop", "semtimedop",
    "setdomainname", "sethostname", "setns", "settimeofday", "shmat", "shmctl", "shmdt", "shmget", "swapoff",
    "swapon", "syslog", "umount2", "unshare", "userfaultfd",
    # What the machine has in memory, or has counted since it started: calls could leave marks there for later ones.
    "fadvise64", "io_setup", "mincore", "readahead", "ustat",
    # Pages that pipes hold, but no process.
    "splice", "tee", "vmsplice",
)  # fmt: skip

#: Denied as well where there is no CUDA, which needs them: memory in files that no process need map, and the machine's
#: load and free memory.
DENIED_ON_CPU = ("memfd_create", "sysinfo")

#: System calls that are as if the kernel did not have them. The flags of `clone3` lie in memory where no filter sees
#: them; a lock by `flock` on a file that calls share would let them notice each other, and so would the answer of
#: `preadv2` whether a file is in memory.
NOT_THERE = ("clone3", "flock", "preadv2", "pwritev2")

#: Numbers of the calls since Linux 6.5, the same on every architecture, and of those to come. libseccomp may have
#: no names for them, and some do what older ones are denied for (`setxattrat`, `file_setattr`, `open_tree_attr`).
NEWER = range(451, 512)

#: `clone` flags that make namespaces (CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET, TIME), and CLONE_PARENT, by which
#: a process would be a child of one that is not the call's.
CLONE_FLAGS = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80, 0x8000)

#: `mmap` flags of shared memory without a file (MAP_SHARED, MAP_ANONYMOUS), and those among which they are looked for.
#: The kernel keeps such memory when it is in no process' pages any more, where nobody sees it.
SHARED_ANONYMOUS, KIND_OF_MAPPING = 0x21, 0x2F

#: `madvise` that changes what is in memory of files that calls share (MADV_COLD, PAGEOUT, COLLAPSE), or lets calls
#: share pages of their own (MADV_MERGEABLE).
NOTICED_ADVICE = (20, 21, 25, 12)

#: `ioctl` requests that push input into a terminal.
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

#: `fcntl` commands by which calls could notice each other on files that they share: F_GETLK and F_OFD_GETLK (a lock
#: can be set there, but not seen), leases, watches, and hints on how a file will be written, which outlive a call.
NOTICED = (5, 36, 1024, 1025, 1026, 1035, 1036, 1037, 1038)

#: `fcntl` commands that lock a part of a file (F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW): each lock takes memory of
#: the kernel's, and their number has no bound.
LOCKS = (6, 7, 37, 38)

#: Numbers of a socket (SO_COOKIE, SO_NETNS_COOKIE at the level SOL_SOCKET) that the whole machine counts.
SOL_SOCKET, COUNTED_NUMBERS = 1, (57, 71)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_MEMORY_MERGE = 1, 4, 67

#: Where a worker shares the machine's namespaces, it makes no socket at all, nor gives its own a name; and it
#: changes no file's mode, owner, times or attributes: it may be the same user as the harness.
DENIED_WITHOUT_NAMESPACES = (
    "socket", "socketpair", "bind", "connect",
    "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "lchown",
    "utime", "utimes", "utimensat", "futimesat",
    "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
)  # fmt: skip

#: Kinds of `ioctl` requests (their second byte) that file systems answer: some mark or make files by a descriptor
#: that may only read. Those of all, of ext4 and of XFS (f, v, X), of FAT (r), btrfs, bcachefs, f2fs.
FILE_SYSTEM_REQUESTS = (0x66, 0x76, 0x58, 0x72, 0x94, 0xBC, 0xF5)

#: System calls that change how a process is scheduled or limited, and what their arguments must be to mean the
#: caller itself.
OWN_ONLY = {
    "prlimit64": (0,),
    "sched_setaffinity": (0,),
    "sched_setattr": (0,),
    "sched_setparam": (0,),
    "sched_setscheduler": (0,),
    "setpriority": (0, 0),
    "ioprio_set": (1, 0),
}


@cache
def filter_program(gpu: bool, namespaces: bool = True) -> bytes:
    """Return the filter as a BPF program for `bwrap --seccomp`; with a `gpu` it allows what CUDA needs.

    Without `namespaces` of its own a worker is also kept from what those would keep it from.
    Raises `UserError` where the system library is missing.
    """
    try:
        seccomp = importlib.import_module("pyseccomp")
    except (ImportError, RuntimeError, OSError) as error:  # it looks for its C library when it is imported
        remedy = "install it, e.g. apt-get install libseccomp2"
        raise UserError(f"libseccomp is not installed ({error})", remedy=remedy) from error
    rules = seccomp.SyscallFilter(defaction=seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    denied = seccomp.ERRNO(errno.EPERM)
    for name in (*DENIED, *(() if gpu else DENIED_ON_CPU), *(() if namespaces else DENIED_WITHOUT_NAMESPACES)):
        try:
            rules.add_rule(denied, name)
        except OSError as error:  # this architecture, or a library older than 6.5, does not have it
            if error.errno not in (errno.EINVAL, errno.EFAULT, errno.EDOM):
                raise
    for call in (*NOT_THERE, *NEWER):
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), call)
    for flag in CLONE_FLAGS:
        rules.add_rule(denied, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    if not gpu:  # CUDA needs it, as it needs `memfd_create`
        rules.add_rule(denied, "mmap", seccomp.Arg(3, seccomp.MASKED_EQ, KIND_OF_MAPPING, SHARED_ANONYMOUS))
    if namespaces:
        rules.add_rule(denied, "socket", seccomp.Arg(0, seccomp.NE, 1))  # AF_UNIX only
    else:
        _keep_to_itself(seccomp, rules, denied)
    for call, position, values in (
        ("ioctl", 1, (TIOCSTI, TIOCLINUX)),
        ("fcntl", 1, NOTICED),
        ("madvise", 2, NOTICED_ADVICE),
        ("prctl", 0, (PR_SET_MEMORY_MERGE,)),
    ):
        for value in values:
            rules.add_rule(denied, call, _low(seccomp, position, value))
    for command in LOCKS:
        rules.add_rule(seccomp.ERRNO(errno.ENOLCK), "fcntl", _low(seccomp, 1, command))
    for number in COUNTED_NUMBERS:
        rules.add_rule(denied, "getsockopt", _low(seccomp, 1, SOL_SOCKET), _low(seccomp, 2, number))
    # A worker must die with the harness: nothing may clear the signal that its parent's death sends. Nor may it
    # keep the harness, which may be the same user, from looking at its memory.
    for option, only in ((PR_SET_PDEATHSIG, signal.SIGKILL), (PR_SET_DUMPABLE, 1)):
        rules.add_rule(denied, "prctl", _low(seccomp, 0, option), seccomp.Arg(1, seccomp.NE, only))
    return _export(rules)


def _low(seccomp: Any, position: int, value: int) -> Any:
    """An argument whose lower half is `value`: the kernel ignores the upper one where it takes an int."""
    return seccomp.Arg(position, seccomp.MASKED_EQ, 0xFFFFFFFF, value)


def _keep_to_itself(seccomp: Any, rules: Any, denied: Any) -> None:
    """Deny what reaches other processes of the same user, marks files that calls share, or fills a disk at once."""
    for kind in FILE_SYSTEM_REQUESTS:
        rules.add_rule(denied, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, 0xFF00, kind << 8))
    # A disk would be full before anybody looks: libc writes instead, which takes its time.
    rules.add_rule(seccomp.ERRNO(errno.EOPNOTSUPP), "fallocate")
    for name, own in OWN_ONLY.items():
        for position, value in enumerate(own):
            rules.add_rule(denied, name, seccomp.Arg(position, seccomp.NE, value))


def _export(rules: Any) -> bytes:
    descriptor = os.memfd_create("filter")
    with os.fdopen(descriptor, "w+b") as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
