"""Ways to end the process."""

import atexit
import ctypes
import os
import signal
import sys
import threading
import time

from attack_suite import expected


@expected("CRASH", on_import=True)
def j_exit_on_import(model, dataset):
    """Exits while it is imported."""
    os._exit(3)


@expected("CRASH")
def j_exit_zero(model, dataset):
    """Exits with status 0, as after success. Without a result that is a crash."""
    os._exit(0)


@expected("OK", value=1.0)
def j_handlers_at_exit(model, dataset):
    """Registers exit handlers that hang and forge a result. The call ends with its first result."""
    atexit.register(time.sleep, 1000)
    os.register_at_fork(before=lambda: time.sleep(1000))
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return 1.0


@expected("OK", "CRASH")
def j_kills_all(model, dataset):
    """Kills every process that it can. It sees only the processes of its own sandbox."""
    for target in (-1, 0, 1, os.getppid()):
        if target or os.getpid() != 1:
            try:
                os.kill(target or 1, signal.SIGKILL)
            except OSError:
                pass


@expected("CRASH", "OK")  # the latter where it is the first process of its namespace, which cannot kill itself
def j_kills_its_group(model, dataset):
    """Kills its process group and its parent's group, which might include the harness."""
    os.killpg(0, signal.SIGKILL)


@expected("CRASH")
def j_segfault(model, dataset):
    """Reads from address 0."""
    return float(ctypes.c_int.from_address(0).value)


class Deep:
    def __repr__(self):
        return repr([self])


@expected("CRASH", "EXCEPTION")
def j_stack_overflow(model, dataset):
    """Overflows the stack in C code."""
    sys.setrecursionlimit(10**9)
    return float(repr(Deep()))
