"""Stops all of its processes, so that nothing reacts. SIGKILL works on stopped processes."""

import os
import signal

EXPECT = ("TIMEOUT",)


def complexity(model, dataset):
    os.fork()
    os.kill(os.getpid(), signal.SIGSTOP)
    return 1.0
