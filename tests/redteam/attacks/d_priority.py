"""Asks for real-time scheduling, a better priority and protection from the kernel's memory killer."""

import os
from pathlib import Path

EXPECT = ("OK",)


def attempt(what, action):
    try:
        action()
        print(f"BREACH: {what}")
    except OSError:
        pass


def complexity(model, dataset):
    score = Path("/proc/self/oom_score_adj")
    attempt("real-time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
    attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1))
    attempt("memory killer", lambda: score.write_text("-1"))  # 0 and more protects from nothing
    return 1.0
