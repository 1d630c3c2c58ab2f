"""Leaves dead children unreaped until no more can be made."""

import os

EXPECT = ("OK",)
ON_PLATFORM = ("MEMORY", "TIMEOUT")  # only the watch bounds the number of root's processes


def complexity(model, dataset):
    for _ in range(2000):
        try:
            os.posix_spawn("/bin/true", ["true"], {})
        except OSError:
            return 1.0
    print("BREACH: 2000 zombies")
    return 0.0
