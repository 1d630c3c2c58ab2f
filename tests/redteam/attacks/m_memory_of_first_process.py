"""Opens the memory of the namespace's first process and of its parent for writing."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    for pid in {1, os.getppid()} - {os.getpid()}:
        try:
            os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
        except OSError:
            continue
        arguments = open(f"/proc/{pid}/cmdline").read()
        if "sleep" not in arguments:  # what only holds the sandbox open has an attack of its own
            print(f"BREACH: memory of {arguments!r}")
    return 1.0
