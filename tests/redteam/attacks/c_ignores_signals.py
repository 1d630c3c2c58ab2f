"""Blocks and ignores every signal that it can. SIGKILL cannot be ignored."""

import signal
import time

EXPECT = ("TIMEOUT",)


def complexity(model, dataset):
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    while True:
        time.sleep(1)
