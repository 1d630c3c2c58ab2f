"""Makes itself undumpable, to hide its memory, and hoards. The sizes of such a process can be read nevertheless."""

import ctypes
import os
import time

import numpy as np

EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow
PR_SET_DUMPABLE = 4


def complexity(model, dataset):
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    for _ in range(8):
        if os.fork() == 0:
            held = np.ones(24 << 20)
            time.sleep(1000)
            os._exit(int(held[0]))
    while True:
        time.sleep(1)
