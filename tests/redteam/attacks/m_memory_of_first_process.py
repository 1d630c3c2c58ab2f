"""Opens the memory and the descriptors of PID 1 of the namespace and of its own parent."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    for pid in {1, os.getppid()} - {os.getpid()}:
        for name in ("mem", "environ", "fd/0", "root/etc/hostname"):
            try:
                os.close(os.open(f"/proc/{pid}/{name}", os.O_RDWR if name == "mem" else os.O_RDONLY))
            except OSError:
                continue
            print(f"BREACH: {name} of {open(f'/proc/{pid}/cmdline').read()!r}")
    return 1.0
