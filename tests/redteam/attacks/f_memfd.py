"""Keeps memory in anonymous files that no process maps. memfd_create is refused on a CPU."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    try:
        os.memfd_create("hoard")
    except OSError:
        return 1.0
    print("BREACH: memfd_create")
    return 0.0
