"""Fills /tmp and /dev/shm. Both are small file systems in memory, not the machine's disk."""

import os

EXPECT = ("OK",)
UNDER_LANDLOCK = ("OUTPUT",)  # a watched directory on the disk
BOUNDS = {os.environ["TMPDIR"]: 256 << 20, "/dev/shm": 64 << 20}


def complexity(model, dataset):
    for place, bound in BOUNDS.items():
        total, chunk = 0, b"x" * (1 << 20)
        try:
            for number in range(100):
                with open(f"{place}/{number}", "wb", buffering=0) as file:
                    for _ in range(32):
                        total += file.write(chunk)
        except OSError:
            pass
        if total > bound:
            print(f"BREACH: {total >> 20} MiB in {place}")
    return 1.0
