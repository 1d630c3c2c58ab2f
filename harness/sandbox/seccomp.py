"""The system-call filter of the sandbox. It denies the listed calls and allows all others.

The filter does not list the allowed calls instead, because not all calls that TensorFlow needs are known.

Denied calls fail with EPERM. Calls in `NOT_THERE` and `NEWER` fail with ENOSYS, as on an old kernel, and libraries
then use other calls. Calls in `ATTRIBUTES` fail with ENOTSUP, as on a file system without extended attributes, and
libraries then do without such attributes. A call through a foreign ABI (32-bit, x32) kills the process.
"""

import errno
import importlib
import os
import signal
from functools import cache
from typing import Any

from harness.errors import UserError

#: System calls that neither Python nor TensorFlow on a CPU needs, and that a submission could misuse.
DENIED = (
    "acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "create_module",
    "delete_module", "fanotify_init", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "init_module",
    "inotify_add_watch", "inotify_init", "inotify_init1",
    "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl", "kcmp", "kexec_file_load",
    "kexec_load", "keyctl", "landlock_create_ruleset", "memfd_secret", "mount", "mount_setattr", "move_mount",
    "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget",
    "msgrcv", "msgsnd", "name_to_handle_at", "open_by_handle_at", "open_tree", "perf_event_open", "personality",
    "pidfd_getfd", "pidfd_open", "pivot_root", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace",
    "quotactl", "quotactl_fd", "reboot", "request_key", "semctl", "semget", "semop", "semtimedop",
    "setdomainname", "sethostname", "setns", "settimeofday", "shmat", "shmctl", "shmdt", "shmget", "swapoff",
    "swapon", "syslog", "umount2", "unshare", "userfaultfd",
    # The page cache and counters of the whole machine, by which calls could leave messages for later calls.
    "fadvise64", "io_setup", "mincore", "readahead", "ustat",
    # Memory in pipes, which belongs to no process.
    "splice", "tee", "vmsplice",
    # A lower priority: on a busy machine, a killed process would then need many minutes to end.
    "ioprio_set", "sched_setattr", "setpriority",
    # Waiting until the disks have stored the data of the whole machine, which no kill ends.
    "sync", "syncfs",
)  # fmt: skip

#: System calls that only CUDA needs, denied without a GPU. They allocate memory that no process has to map, or tell the
#: load and free memory of the machine.
DENIED_ON_CPU = ("memfd_create", "sysinfo")

#: System calls that fail as if the kernel did not know them. A filter cannot read the flags of `clone3`, which are in
#: memory. Calls could notice each other by `flock` on a shared file, or by `preadv2`, which shows if a file is in the
#: page cache.
NOT_THERE = ("clone3", "flock", "preadv2", "pwritev2")

#: System calls that read attributes of a file. Landlock allows them on every path.
ATTRIBUTES = ("getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr")

#: Numbers of the system calls since Linux 6.5 and of future system calls, equal on every architecture. libseccomp does
#: not know all their names. Some do the same as denied older calls (`setxattrat`, `getxattrat`, `file_setattr`,
#: `open_tree_attr`).
NEWER = range(451, 512)

#: `clone` flags that create namespaces (CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET, TIME), and CLONE_PARENT, with
#: which a new process would be the child of a process outside the call.
CLONE_FLAGS = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80, 0x8000)

#: `mmap` flags of shared memory without a file (MAP_SHARED, MAP_ANONYMOUS), and the mask for comparing them. Such
#: memory stays allocated without belonging to a process, so its use could not be measured.
SHARED_ANONYMOUS, KIND_OF_MAPPING = 0x21, 0x2F

#: `madvise` values that change the page cache of files that calls share (MADV_COLD, PAGEOUT, COLLAPSE), or let calls
#: share private pages (MADV_MERGEABLE).
NOTICED_ADVICE = (20, 21, 25, 12)

#: `ioctl` requests that push input into a terminal.
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

#: `fcntl` commands through which calls could notice each other on shared files: F_GETLK and F_OFD_GETLK, leases,
#: directory notifications, and write-lifetime hints, which outlive a call.
NOTICED = (5, 36, 1024, 1025, 1026, 1035, 1036, 1037, 1038)

#: `fcntl` commands that lock part of a file (F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW): each lock takes kernel
#: memory, and their number is unbounded.
LOCKS = (6, 7, 37, 38)

#: Socket options (SO_COOKIE, SO_NETNS_COOKIE at the level SOL_SOCKET) whose values are counters of the whole machine.
SOL_SOCKET, COUNTED_NUMBERS = 1, (57, 71)

#: Socket options of SOL_SOCKET (SO_PASSPIDFD to set, SO_PEERPIDFD to get) that give a descriptor of the process at the
#: other end, which for a worker is the harness.
DESCRIPTORS_OF_PROCESSES = {"setsockopt": 76, "getsockopt": 77}

#: The lowest priority as a policy of `sched_setscheduler` (SCHED_IDLE), without and with SCHED_RESET_ON_FORK.
IDLE = (5, 0x40000005)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_MEMORY_MERGE = 1, 4, 67

#: Also denied to a worker without namespaces of its own, which may run as the harness' user: creating or naming a
#: socket, and changing the mode, owner, times or attributes of a file.
DENIED_WITHOUT_NAMESPACES = (
    "socket", "socketpair", "bind", "connect",
    "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "lchown",
    "utime", "utimes", "utimensat", "futimesat",
    "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
)  # fmt: skip

#: Second bytes of the `ioctl` requests of file systems, some of which change files through a read-only descriptor:
#: generic, ext4 and XFS (f, v, X), FAT (r), btrfs, bcachefs, f2fs.
FILE_SYSTEM_REQUESTS = (0x66, 0x76, 0x58, 0x72, 0x94, 0xBC, 0xF5)

#: System calls that read or change facts of a process -> first arguments that mean the calling process. Left out are
#: `sched_getaffinity`, `sched_getparam` and `sched_getscheduler`, which thread pools call with IDs of their threads.
OWN_ONLY = {
    "getpgid": (0,),
    "getsid": (0,),
    "getpriority": (0, 0),
    "ioprio_get": (1, 0),
    "prlimit64": (0,),
    "sched_getattr": (0,),
    "sched_rr_get_interval": (0,),
    "sched_setaffinity": (0,),
    "sched_setparam": (0,),
    "sched_setscheduler": (0,),
}

#: System calls with a clock as their first argument. A clock can be the processor time of any process: its number is
#: then negative and contains the process ID. The clock of a thread also has the bit 4, and works in its process only.
OF_CLOCKS = ("clock_gettime", "clock_getres", "clock_nanosleep", "timer_create")
KIND_OF_CLOCK, CLOCK_OF_A_PROCESS = 0x80000004, 0x80000000


@cache
def filter_program(gpu: bool, namespaces: bool = True) -> bytes:
    """Return the system-call filter as a BPF program for bubblewrap. `gpu` allows the calls that CUDA needs.

    If the sandbox has no `namespaces`, the filter also denies operations that namespaces would confine. Raise
    `UserError` if libseccomp is missing.
    """
    try:
        seccomp = importlib.import_module("pyseccomp")
    except ModuleNotFoundError:
        raise  # an extra of pgdl-harness installs the module
    except (ImportError, RuntimeError, OSError) as error:  # the import loads the C library
        remedy = "install it, e.g. apt-get install libseccomp2"
        raise UserError(f"libseccomp is not installed ({error})", remedy=remedy) from error
    rules = seccomp.SyscallFilter(defaction=seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    denied = seccomp.ERRNO(errno.EPERM)
    for name in (*DENIED, *(() if gpu else DENIED_ON_CPU), *(() if namespaces else DENIED_WITHOUT_NAMESPACES)):
        try:
            rules.add_rule(denied, name)
        except OSError as error:  # unknown on this architecture, or to this version of libseccomp
            if error.errno not in (errno.EINVAL, errno.EFAULT, errno.EDOM):
                raise
    for call in (*NOT_THERE, *NEWER):
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), call)
    for call in ATTRIBUTES:
        rules.add_rule(seccomp.ERRNO(errno.ENOTSUP), call)
    for flag in CLONE_FLAGS:
        rules.add_rule(denied, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    if not gpu:  # CUDA needs such memory
        rules.add_rule(denied, "mmap", seccomp.Arg(3, seccomp.MASKED_EQ, KIND_OF_MAPPING, SHARED_ANONYMOUS))
    if namespaces:
        rules.add_rule(denied, "socket", seccomp.Arg(0, seccomp.NE, 1))  # AF_UNIX only
    else:
        _confine_without_namespaces(seccomp, rules, denied)
    for call, position, values in (
        ("ioctl", 1, (TIOCSTI, TIOCLINUX)),
        ("fcntl", 1, NOTICED),
        ("madvise", 2, NOTICED_ADVICE),
        ("prctl", 0, (PR_SET_MEMORY_MERGE,)),
        ("sched_setscheduler", 1, IDLE),
    ):
        for value in values:
            rules.add_rule(denied, call, _low(seccomp, position, value))
    for command in LOCKS:
        rules.add_rule(seccomp.ERRNO(errno.ENOLCK), "fcntl", _low(seccomp, 1, command))
    options = [*DESCRIPTORS_OF_PROCESSES.items(), *(("getsockopt", number) for number in COUNTED_NUMBERS)]
    for call, option in options:
        rules.add_rule(denied, call, _low(seccomp, 1, SOL_SOCKET), _low(seccomp, 2, option))
    # A worker must die with the harness, so it must not clear its parent-death signal. A worker that became undumpable
    # would deny the harness, which may be the same user, access to its memory.
    for option, only in ((PR_SET_PDEATHSIG, signal.SIGKILL), (PR_SET_DUMPABLE, 1)):
        rules.add_rule(denied, "prctl", _low(seccomp, 0, option), seccomp.Arg(1, seccomp.NE, only))
    return _export(rules)


def _low(seccomp: Any, position: int, value: int) -> Any:
    return seccomp.Arg(position, seccomp.MASKED_EQ, 0xFFFFFFFF, value)  # the kernel ignores the upper bits of an int


def _confine_without_namespaces(seccomp: Any, rules: Any, denied: Any) -> None:
    """Keep the worker from reaching the user's other processes, changing shared files, and reserving disk space."""
    for kind in FILE_SYSTEM_REQUESTS:
        rules.add_rule(denied, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, 0xFF00, kind << 8))
    # The disk could be full before the watch notices. libc writes zeros instead, which is slower.
    rules.add_rule(seccomp.ERRNO(errno.EOPNOTSUPP), "fallocate")
    for name, own in OWN_ONLY.items():
        for position, value in enumerate(own):
            rules.add_rule(denied, name, seccomp.Arg(position, seccomp.NE, value))
    for name in OF_CLOCKS:
        rules.add_rule(denied, name, seccomp.Arg(0, seccomp.MASKED_EQ, KIND_OF_CLOCK, CLOCK_OF_A_PROCESS))


def _export(rules: Any) -> bytes:
    descriptor = os.memfd_create("filter")
    with os.fdopen(descriptor, "w+b") as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
