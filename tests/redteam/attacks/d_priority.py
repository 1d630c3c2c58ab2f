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
    lower = str(int(score.read_text()) - 1)
    attempt("real-time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
    attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1))
    attempt("memory killer", lambda: score.write_text(lower))
    return 1.0
