"""Hoards memory in a daemon whose parent is gone. PID 1 of the namespace adopts orphans, and is watched."""

import os
import time

import numpy as np

EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow


def complexity(model, dataset):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            hoard = []
            for _ in range(256):
                hoard.append(np.ones(1 << 20))
            print("BREACH: 2 GiB")
        os._exit(0)
    while True:
        time.sleep(1)
