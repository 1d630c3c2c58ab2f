"""Ways to end the process."""

import atexit
import ctypes
import os
import signal
import sys
import threading
import time

from attack_suite import expected


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


class Deep:
    def __repr__(self):
        return repr([self])


#: Name, outcomes, action, and reason. The first process of a namespace cannot kill itself.
ROWS = [
    ("j_exit_on_import", expected("CRASH", on_import=True), os._exit(3), "Exits while it is imported."),
    ("j_exit_zero", "CRASH", os._exit(0), "Exits with status 0, as after success. Without a result that is a crash."),
    ("j_kills_its_group", ("CRASH", "OK"), os.killpg(0, signal.SIGKILL),
     "Kills its process group and its parent's group, which might include the harness."),
    ("j_segfault", "CRASH", float(ctypes.c_int.from_address(0).value), "Reads from address 0."),
    ("j_stack_overflow", ("CRASH", "EXCEPTION"), sys.setrecursionlimit(10**9) or float(repr(Deep())),
     "Overflows the stack in C code."),
]  # fmt: skip
