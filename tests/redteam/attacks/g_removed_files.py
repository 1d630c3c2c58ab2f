"""Fills the scratch space with files that it removes while they are open: no directory shows them."""

import os

EXPECT = ("OK",)
UNDER_LANDLOCK = ("OUTPUT",)  # a watched directory on the disk


def complexity(model, dataset):
    total, chunk = 0, b"x" * (1 << 20)
    try:
        for number in range(200):
            path = f"{os.environ['TMPDIR']}/{number}"
            descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
            os.unlink(path)
            for _ in range(32):
                total += os.write(descriptor, chunk)
    except OSError:
        pass
    if total > 256 << 20:
        print(f"BREACH: {total >> 20} MiB in files without a name")
    return 1.0
