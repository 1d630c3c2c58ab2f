"""Signals: the harness relies only on SIGKILL."""

import os
import signal
import time

from attack_suite import expected


@expected("TIMEOUT")
def c_ignores_signals(model, dataset):
    """Blocks and ignores every signal that it can. SIGKILL cannot be ignored."""
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    while True:
        time.sleep(1)


@expected("TIMEOUT", "OK")  # the latter where it is the first process of its namespace, which cannot be stopped
def c_stops_itself(model, dataset):
    """Stops all of its processes. SIGKILL also ends stopped processes."""
    os.fork()
    os.kill(os.getpid(), signal.SIGSTOP)
