"""Forks without end. RLIMIT_NPROC bounds it; the process namespace dies as one."""

import os

EXPECT = ("TIMEOUT", "CRASH", "MEMORY")


def complexity(model, dataset):
    while True:
        try:
            os.fork()
        except OSError:
            pass
