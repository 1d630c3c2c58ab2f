"""Too many processes and threads, and changed limits of other processes."""

import os
import platform
import resource
import threading
import time
from pathlib import Path

from attack_suite import expected
from tools import attempt, processes, until_refused, write_code
from torch.utils.data import DataLoader


@expected("TIMEOUT", "CRASH", "MEMORY")
def d_fork_bomb(model, dataset):
    """Forks without end. RLIMIT_NPROC bounds the processes, which all end with their process namespace."""
    while True:
        try:
            os.fork()
        except OSError:
            pass


#: again: mov eax, 57 (fork); syscall; test eax, eax; jnz again; wait: mov eax, 34 (pause); syscall; jmp wait
CODE = bytes.fromhex("b839000000 0f05 85c0 75f5 b822000000 0f05 ebf7")
MOST = 128 + 4 * os.cpu_count()


@expected("OK")
def d_forks_elsewhere(model, dataset):
    """Writes code that forks without end into another process of the sandbox, whose limits may be wider."""
    if platform.machine() != "x86_64":
        return
    for pid in set(processes()) - {os.getpid()}:
        if write_code(pid, CODE):
            print(f"BREACH: code written into {pid}; there are {len(processes())} processes, {MOST} are allowed")


def holds_the_sandbox_open(pid):
    """Return whether a process is the placeholder that holds this call's own sandbox open (kind `fast`)."""
    try:
        return "cat" in open(f"/proc/{pid}/cmdline").read()
    except OSError:
        return False


@expected("OK")
def d_limits_of_others(model, dataset):
    """Limits and slows down other processes of the same user: its parent, and processes with IDs near its own."""
    own = os.getpid()
    for pid in {os.getppid(), *range(max(own - 100, 2), own)} - {0, 1, own}:
        if holds_the_sandbox_open(pid):
            continue
        attempt(f"limits {pid}", lambda pid=pid: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1)))
        attempt(f"slows down {pid}", lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, 19))
        attempt(f"moves {pid}", lambda pid=pid: os.sched_setaffinity(pid, {0}))
        attempt(f"schedules {pid}", lambda pid=pid: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))


@expected("EXCEPTION", "FORBIDDEN", "MEMORY", "TIMEOUT", runtime="torch")
def d_loader_processes(model, dataset):
    """Starts far more worker processes of PyTorch's data loader than the limit allows."""
    batches = list(DataLoader(dataset, num_workers=2000))
    print("BREACH: 2,000 processes")
    return float(len(batches))


@expected("OK")
def d_priority(model, dataset):
    """Requests real-time scheduling, other priorities, and protection from the kernel's memory killer."""
    score = Path("/proc/self/oom_score_adj")
    attempt("real-time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
    attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1))
    attempt("a slow end", lambda: os.nice(19))
    attempt("a slower end", lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))
    attempt("memory killer", lambda: score.write_text("-1"))  # 0 and more protects from nothing


@expected("OK")
def d_raises_limits(model, dataset):
    """Raises its own limits. They are hard limits, and the worker has no capability to raise hard limits."""
    for name in ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE"):
        kind = getattr(resource, name)
        soft, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or soft != hard:
            print(f"BREACH: {name} is {soft}, {hard}")
        attempt(f"raised {name}", lambda: resource.setrlimit(kind, (hard + 1, hard + 1)))


#: Name, outcomes, action, and reason. On a platform, only the watch bounds the number of root's processes.
ROWS = [
    ("d_counted_children", expected("OK", on_platform=("MEMORY", "TIMEOUT")),
     until_refused(1000, lambda: os.posix_spawn("/bin/sleep", ["sleep", "1000"], {})),
     "Counts how many children it can have. RLIMIT_NPROC bounds their number, even if root runs the harness."),
    ("d_thread_bomb", expected("OK", on_platform=("MEMORY", "TIMEOUT")),
     until_refused(2000, lambda: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()),
     "Starts threads without end. RLIMIT_NPROC counts threads as processes."),
    ("d_zombies", expected("OK", on_platform=("MEMORY", "TIMEOUT")),
     until_refused(2000, lambda: os.posix_spawn("/bin/true", ["true"], {})),
     "Leaves dead children unreaped until no more processes can be made."),
]  # fmt: skip
