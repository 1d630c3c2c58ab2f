"""Locks single bytes of files, as many as it can: each lock takes kernel memory. Locking is refused."""

import fcntl
import os

EXPECT = ("OK",)


def complexity(model, dataset):
    with open(f"{os.environ['TMPDIR']}/locked", "w") as file:
        locked = 0
        try:
            for byte in range(0, 20_000, 2):
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
                locked += 1
        except OSError:
            pass
    if locked:
        print(f"BREACH: {locked} locks")
    return 1.0
