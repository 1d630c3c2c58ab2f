"""Hoards memory in a sibling: CLONE_PARENT makes it a child of the worker's parent, outside the sandbox."""

import ctypes
import os
import platform
import signal
import time

import numpy as np

EXPECT = ("OK", "MEMORY")
CLONE, CLONE_PARENT = {"x86_64": 56, "aarch64": 220}.get(platform.machine(), 56), 0x8000


def complexity(model, dataset):
    child = ctypes.PyDLL(None).syscall(CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        held = np.ones(92 << 20)
        time.sleep(0.5)
        print(f"BREACH: {held.nbytes >> 20} MiB in a sibling", flush=True)
        os._exit(0)
    time.sleep(2.7 if child > 0 else 0)
    return 1.0
