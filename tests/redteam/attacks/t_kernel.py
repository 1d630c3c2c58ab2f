"""The kernel, other users and namespaces."""

import ctypes
import mmap
import os
import platform
import shutil
import signal
import socket
import subprocess

from attack_suite import expected
from tools import LIBC, attempt, call_all

CODE = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"  # mov eax, 20 (getpid); int 0x80; ret


@expected("CRASH")
def t_32_bit_calls(model, dataset):
    """Makes a system call by the 32-bit interface, whose numbers differ. That kills the process."""
    if platform.machine() != "x86_64":
        os._exit(0)
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    memory = mmap.mmap(-1, 4096, private, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(CODE)
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
    print("BREACH: int 0x80")


PR_GET_NO_NEW_PRIVS = 39


@expected("OK", allowed_on_platform=("BREACH: changed user or group",))  # to itself: it is root, without capabilities
def t_becomes_root(model, dataset):
    """Becomes root by system calls and by programs with the set-user-id bit."""
    for call in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.setresuid(0, 0, 0)):
        attempt("changed user or group", call)
    for program in ("su", "mount", "passwd", "newgrp", "sudo"):
        if path := shutil.which(program):
            done = subprocess.run([path, "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.stdout.strip() == "0":
                print(f"BREACH: {program} made it root")
    if LIBC.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1:
        print("BREACH: may gain privileges")
    status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    bounded = ("CapBnd",) if os.environ["TMPDIR"] == "/tmp" else ()  # without a namespace, a user's cannot be lowered
    for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb", *bounded):
        if int(status[kind], 16):
            print(f"BREACH: {kind} is {status[kind].strip()}")
    if status["Seccomp"].strip() != "2":
        print("BREACH: no filter")


@expected("OK")
def t_clone3(model, dataset):
    """Makes a namespace with clone3, whose flags lie in memory where no filter sees them. The filter refuses clone3."""
    arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
    child = LIBC.syscall(435, arguments, ctypes.sizeof(arguments))
    if child == 0:
        os._exit(0)
    if child > 0:
        print("BREACH: clone3")


CALLS = {
    "bpf": (321, 5, ctypes.create_string_buffer(128), 128), "perf_event_open": (298, 0, 0, -1, -1, 0),
    "userfaultfd": (323, 1), "keyctl": (250, 0, -3, 1), "add_key": (248, b"user", b"x", b"x", 1, -2),
    "syslog": (103, 3, ctypes.create_string_buffer(64), 64), "personality": (135, 0x0400000),
    "init_module": (175, 0, 0, b""), "kexec_load": (246, 0, 0, 0, 0), "swapon": (167, b"/tmp/x", 0),
    "sethostname": (170, b"x", 1), "settimeofday": (164, 0, 0), "iopl": (172, 0), "ioperm": (173, 0, 1, 0),
    "quotactl": (179, 0, 0, 0, 0), "acct": (163, 0), "fanotify_init": (300, 0, 0), "memfd_secret": (447, 0),
    "landlock_create_ruleset": (444, 0, 0, 1), "adjtimex": (159, ctypes.create_string_buffer(256)),
}  # fmt: skip


@expected("OK")
def t_kernel_surface(model, dataset):
    """Makes system calls that expose much of the kernel to attacks, or change the machine."""
    call_all({name: lambda call=call: LIBC.syscall(*call) for name, call in CALLS.items()})


PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_RET_ALLOW = 22, 38, 0x7FFF0000


@expected("OK")
def t_loosens_filter(model, dataset):
    """Adds a system-call filter that allows everything, and tries to make privileges possible again."""
    code = (ctypes.c_uint64 * 1)(SECCOMP_RET_ALLOW << 32 | 0x06)
    program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(code))
    LIBC.prctl(PR_SET_SECCOMP, 2, program, 0, 0)  # may work: the stricter of two filters counts
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0:
        print("BREACH: may gain privileges")
    attempt("the filter is gone", lambda: socket.socket(socket.AF_INET))


MS_REMOUNT, MS_BIND = 32, 4096


@expected("OK")
def t_mounts(model, dataset):
    """Mounts, remounts as writable, unmounts and changes the root, with old and new system calls."""
    calls = {
        "mount": lambda: LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "remount": lambda: LIBC.mount(None, b"/usr", None, MS_REMOUNT | MS_BIND, None),
        "umount": lambda: LIBC.umount2(b"/job/submission", 2),
        "pivot_root": lambda: LIBC.syscall(155, b"/tmp", b"/tmp"),
        "chroot": lambda: LIBC.chroot(b"/tmp"),
        "fsopen": lambda: LIBC.syscall(430, b"tmpfs", 0),
        "open_tree": lambda: LIBC.syscall(428, -100, b"/usr", 1),
        "mount_setattr": lambda: LIBC.syscall(442, -100, b"/usr", 0, (ctypes.c_uint64 * 4)(0, 1, 0, 0), 32),
    }
    call_all(calls)


FLAGS = (0x10000000, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x20000000, 0x40000000, 0x80)
SIGCHLD = 17


@expected("OK", on_platform=("FORBIDDEN",))  # root may read the directory by its mode, and Landlock refuses
def t_namespaces(model, dataset):
    """Makes and joins namespaces, in which it would have every capability."""
    for flag in FLAGS:
        if LIBC.unshare(flag) == 0:
            print(f"BREACH: unshare {flag:#x}")
        child = LIBC.syscall(56, ctypes.c_long(flag | SIGCHLD), 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        if child > 0:
            print(f"BREACH: clone {flag:#x}")
    for name in os.listdir("/proc/1/ns") if os.access("/proc/1/ns", os.R_OK) else ():
        if LIBC.setns(os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0) == 0:
            print(f"BREACH: setns {name}")


PRCTL, PR_SET_PDEATHSIG = 157, 1


@expected("OK")
def t_outlives_harness(model, dataset):
    """Clears the signal of its parent's death, to outlive the harness."""
    for option in (PR_SET_PDEATHSIG, PR_SET_PDEATHSIG | 1 << 32, PR_SET_PDEATHSIG | 1 << 63):
        for number in (0, signal.SIGCHLD, 1 << 32):
            if LIBC.syscall(PRCTL, ctypes.c_ulong(option), ctypes.c_ulong(number), 0, 0, 0) == 0:
                print(f"BREACH: prctl {option:#x}, {number:#x}")


TIOCSTI, TIOCLINUX = 0x5412, 0x541C


@expected("OK")
def t_terminal(model, dataset):
    """Pushes keystrokes into the terminal of the harness."""
    for path in ("/dev/tty", "/dev/console", "/dev/pts/0"):
        attempt(f"opened {path}", lambda: os.open(path, os.O_RDWR))
    for descriptor in range(16):
        for request in (TIOCSTI, TIOCLINUX, TIOCSTI | 1 << 32):
            if LIBC.ioctl(descriptor, ctypes.c_ulong(request), b"x") == 0:
                print(f"BREACH: keystrokes by descriptor {descriptor}")


X32_GETPID = 0x40000027


@expected("CRASH")
def t_x32_calls(model, dataset):
    """Makes a system call by the x32 interface, whose numbers have an extra bit. The call is fatal or unknown."""
    if platform.machine() != "x86_64":
        os._exit(0)
    if LIBC.syscall(X32_GETPID) >= 0:
        print("BREACH: x32")
