"""Hoards NumPy arrays and swallows MemoryError."""

import numpy as np

EXPECT = ("MEMORY", "TIMEOUT")  # the latter where the machine is slow


def complexity(model, dataset):
    hoard = []
    for _ in range(256):
        try:
            hoard.append(np.ones(1 << 20))
        except MemoryError:
            pass
    print("BREACH: 2 GiB")
    return 0.0
