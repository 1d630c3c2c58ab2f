"""Reserves disk space without writing it, which takes no time: the watch could not notice before the disk is full."""

import os

EXPECT = ("OK",)
UNDER_LANDLOCK = ("OUTPUT",)  # it is written after all, to a watched directory


def complexity(model, dataset):
    reserved = 0
    try:
        for number in range(200):
            descriptor = os.open(f"{os.environ['TMPDIR']}/{number}", os.O_CREAT | os.O_WRONLY)
            os.posix_fallocate(descriptor, 0, 128 << 20)
            reserved += 128
    except OSError:
        pass
    if reserved > 2048:
        print(f"BREACH: {reserved} MiB")
    return 1.0
