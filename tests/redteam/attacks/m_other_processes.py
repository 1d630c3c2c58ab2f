"""Other processes, and the harness' memory."""

import ctypes
import os
import platform
import re
import socket
import time

from attack_suite import expected
from tools import LIBC, attempt, processes, write_code

#: mov edi, 2 (AF_INET); mov esi, 1; xor edx, edx; mov eax, 41 (socket); syscall; again: mov eax, 34 (pause); syscall
CODE = bytes.fromhex("bf02000000 be01000000 31d2 b829000000 0f05 b822000000 0f05 ebf7")


def sockets(pid):
    links = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            pass
    return sum(link.startswith("socket:") for link in links)


@expected("OK")
def m_code_of_placeholder(model, dataset):
    """Writes code into the placeholder process of the sandbox, to make a system call there.

    The placeholder must be out of reach and under the worker's filter; otherwise, the filter could be bypassed.
    """
    if platform.machine() != "x86_64":
        return
    for pid in set(processes()) - {os.getpid()}:
        try:
            before = sockets(pid)
        except OSError:
            continue
        if write_code(pid, CODE):
            print(f"BREACH: code in another process, which made {sockets(pid) - before} sockets without the filter")


@expected("OK")
def m_environments(model, dataset):
    """Reads the environment and command line of every process that it sees, above all of PID 1."""
    for path in (f"/proc/{pid}/{name}" for pid in processes() for name in ("environ", "cmdline")):
        try:
            content = open(path, "rb").read()
        except OSError:
            continue
        for secret in (b"SECRET_TOKEN", b"PGDL_", b"@TASK@"):
            if secret in content:
                print(f"BREACH: {path} holds {secret}")


SYSCALL = LIBC.syscall
FACTS = {
    "session": os.getsid,
    "group": os.getpgid,
    "priority": lambda pid: os.getpriority(os.PRIO_PROCESS, pid),
    "time slice": os.sched_rr_get_interval,
    "processor time": lambda pid: time.clock_gettime(~pid << 3 | 2),
    "precision of its clock": lambda pid: time.clock_getres(~pid << 3 | 2),
    "wait for its clock": lambda pid: done(SYSCALL(CLOCK_NANOSLEEP, ~pid << 3 | 2, 0, bytes(16), 0)),
    "timer on its clock": lambda pid: done(SYSCALL(TIMER_CREATE, ~pid << 3 | 2, None, bytes(8))),
    "priority of its reads": lambda pid: done(SYSCALL(IOPRIO_GET, 1, pid)),
    "scheduling": lambda pid: done(SYSCALL(SCHED_GETATTR, pid, bytes(64), 48, 0)),
}
CLOCK_NANOSLEEP, TIMER_CREATE, IOPRIO_GET, SCHED_GETATTR = 230, 222, 252, 315
SO_PASSPIDFD, SO_PEERPIDFD = 76, 77


def done(result):
    if result < 0:
        raise OSError


@expected("OK")
def m_facts_of_processes(model, dataset):
    """Asks the kernel about processes outside the call: by ID, and by a descriptor, which also tells their end."""
    attempt("descriptor of a process", lambda: os.pidfd_open(os.getpid()))
    for name in os.listdir("/proc/self/fd"):
        try:
            channel = socket.socket(fileno=os.dup(int(name)))
        except OSError:
            continue
        attempt("descriptor of the harness", lambda: channel.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD))
        attempt("descriptors of senders", lambda: channel.setsockopt(socket.SOL_SOCKET, SO_PASSPIDFD, 1))
    if os.environ["TMPDIR"] == "/tmp":
        return  # in a namespace, which has no IDs of others
    for pid in (1, os.getppid()):
        for name, read in FACTS.items():
            attempt(f"{name} of {pid}", lambda: read(pid))


@expected("OK")
def m_memory_of_first_process(model, dataset):
    """Opens the memory and the descriptors of PID 1 of the namespace and of its own parent."""
    for pid in {1, os.getppid()} - {os.getpid()}:
        for name in ("mem", "environ", "fd/0", "root/etc/hostname"):
            try:
                os.close(os.open(f"/proc/{pid}/{name}", os.O_RDWR if name == "mem" else os.O_RDONLY))
            except OSError:
                continue
            print(f"BREACH: {name} of {open(f'/proc/{pid}/cmdline').read()!r}")


@expected("OK", under_landlock=("FORBIDDEN",))  # there is no list
def m_other_processes(model, dataset):
    """Lists processes: its own process, and at most two processes that hold the sandbox open."""
    others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}
    if len(others) > 2 or max(others, default=0) > 100:
        print(f"BREACH: processes {others}")


SECRETS = re.compile(rb"hunter[2]|/singl[e]/model_|model_configs[.]jso[n]\x00")  # does not match itself


@expected("OK")
def m_own_memory(model, dataset):
    """Searches its own memory for secrets of the harness: a fork inherits its parent's memory."""
    for line in open("/proc/self/maps"):
        span, permissions, *_, name = line.split(maxsplit=5) if line.count(" ") > 5 else (*line.split(), "")
        start, end = (int(part, 16) for part in span.split("-"))
        if permissions.startswith("rw") and end - start <= 64 << 20:
            found = SECRETS.search(ctypes.string_at(start, end - start))
            if found:
                print(f"BREACH: {found.group()} in {name}")
