"""Writes past Python's own streams, from several processes and on both descriptors."""

import os

EXPECT = ("OUTPUT",)


def complexity(model, dataset):
    os.fork()
    os.fork()
    while True:
        os.write(1, b"\x00" * 65536)
        os.write(2, b"\xff" * 65536)
