"""Keeps memory in full pipes. The number of descriptors and the kernel's own quota per user bound it."""

import os

EXPECT = ("OK",)
LIMIT = 900 << 20


def complexity(model, dataset):
    held, pipes = 0, []
    try:
        while held < LIMIT:
            pipes.append(os.pipe())
            os.set_blocking(pipes[-1][1], False)
            held += os.write(pipes[-1][1], b"x" * (1 << 20))
    except OSError:
        return 1.0
    print("BREACH: the memory limit in pipes")
    return 0.0
