"""Limits and slows down processes of the same user outside: its parent, and those with numbers near its own."""

import os
import resource

EXPECT = ("OK",)


def attempt(what, action):
    try:
        action()
        print(f"BREACH: {what}")
    except OSError:
        pass


def holds_the_sandbox_open(pid):
    """Whether it is the placeholder of a fast start, which is the call's own."""
    try:
        return "cat" in open(f"/proc/{pid}/cmdline").read()
    except OSError:
        return False


def complexity(model, dataset):
    own = os.getpid()
    for pid in {os.getppid(), *range(max(own - 100, 2), own)} - {0, 1, own}:
        if holds_the_sandbox_open(pid):
            continue
        attempt(f"limits {pid}", lambda pid=pid: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1)))
        attempt(f"slows down {pid}", lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, 19))
        attempt(f"moves {pid}", lambda pid=pid: os.sched_setaffinity(pid, {0}))
        attempt(f"schedules {pid}", lambda pid=pid: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
    return 1.0
