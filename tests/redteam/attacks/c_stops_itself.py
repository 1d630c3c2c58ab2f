"""Stops all of its processes, so that nothing reacts. SIGKILL works on stopped processes."""

import os
import signal

EXPECT = ("TIMEOUT", "OK")  # the latter where it is the first process of its namespace, which cannot be stopped


def complexity(model, dataset):
    os.fork()
    os.kill(os.getpid(), signal.SIGSTOP)
    return 1.0
