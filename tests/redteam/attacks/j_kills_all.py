"""Kills every process that it can. It sees no process but those of its own sandbox."""

import os
import signal

EXPECT = ("OK", "CRASH")


def complexity(model, dataset):
    for target in (-1, 0, 1, os.getppid()):
        if target or os.getpid() != 1:
            try:
                os.kill(target or 1, signal.SIGKILL)
            except OSError:
                pass
    return 1.0
