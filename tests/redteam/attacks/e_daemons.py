"""Daemons that would outlive the call."""

import os
import signal
import time

from attack_suite import expected


@expected("OK")
def e_breeding_daemons(model, dataset):
    """Starts processes that fork and exit faster than they can be found. A namespace is killed in one step."""
    for _ in range(3):
        if os.fork() == 0:
            while True:
                try:
                    if os.fork():
                        os._exit(0)
                    os.setsid()
                except OSError:
                    pass
    time.sleep(0.3)


@expected("OK")
def e_daemon(model, dataset):
    """Leaves daemons, each in a new session, that hold the output pipe. They die with the process namespace."""
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
                while True:
                    time.sleep(1)
            os._exit(0)


@expected("CRASH", "TIMEOUT")
def e_daemon_then_exit(model, dataset):
    """Leaves a daemon that holds output and control channel open, and exits. The worker's own exit ends the call."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(1000)
    os._exit(0)
