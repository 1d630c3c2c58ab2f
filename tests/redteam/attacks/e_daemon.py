"""Leaves daemons in sessions of their own that hold the output pipe. They die with the process namespace."""

import os
import signal
import time

EXPECT = ("OK",)


def complexity(model, dataset):
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
                while True:
                    time.sleep(1)
            os._exit(0)
    return 1.0
