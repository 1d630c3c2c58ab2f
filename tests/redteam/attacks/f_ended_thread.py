"""Hoards memory in a process whose first thread has ended, so that the process itself seems to have no memory."""

import ctypes
import os
import platform
import threading
import time

import numpy as np

EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow
EXIT = {"x86_64": 60, "aarch64": 93}.get(platform.machine(), 60)  # ends a thread, not its process


def hoard():
    time.sleep(0.1)
    held = np.ones(112 << 20)
    time.sleep(0.5)
    print(f"BREACH: {held.nbytes >> 20} MiB behind an ended thread", flush=True)
    time.sleep(1000)


def complexity(model, dataset):
    if os.fork() == 0:
        threading.Thread(target=hoard).start()
        ctypes.CDLL(None).syscall(EXIT, 0)
    while True:
        time.sleep(1)
