"""Spreads memory over children, each far below the limit. The whole tree is measured."""

import os
import time

import numpy as np

EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow


def complexity(model, dataset):
    for _ in range(16):
        if os.fork() == 0:
            held = np.ones(8 << 20)
            time.sleep(1000)
            os._exit(int(held[0]))
    while True:
        time.sleep(1)
