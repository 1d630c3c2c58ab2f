"""Infers the number of pipes and sockets created so far on the machine from the inode number of a new one."""

import os

EXPECT = ("OK",)
TWICE = True
KNOWN_BREACH = "the kernel numbers pipes and sockets over the whole machine, and whoever has one may ask for its number"


def complexity(model, dataset):
    first = os.fstat(os.pipe()[0]).st_ino
    for _ in range(5000):
        for end in os.pipe():
            os.close(end)
    if os.fstat(os.pipe()[0]).st_ino != first:
        print("BREACH: a number that others can read moves on")
    return 1.0
