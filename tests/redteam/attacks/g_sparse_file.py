"""Makes a file of a terabyte that takes no room yet. RLIMIT_FSIZE bounds the length of a file."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    descriptor = os.open(f"{os.environ['TMPDIR']}/sparse", os.O_CREAT | os.O_RDWR)
    for action in (lambda: os.ftruncate(descriptor, 1 << 40), lambda: os.pwrite(descriptor, b"x", 1 << 40)):
        try:
            action()
            print("BREACH: a file of a terabyte")
        except OSError:
            pass
    return 1.0
