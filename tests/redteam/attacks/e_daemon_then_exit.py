"""Leaves a daemon that holds both channels, and exits. The end of the worker itself counts, not end-of-file."""

import os
import time

EXPECT = ("CRASH", "TIMEOUT")


def complexity(model, dataset):
    if os.fork() == 0:
        os.setsid()
        time.sleep(1000)
    os._exit(0)
