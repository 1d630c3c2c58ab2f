"""Writes to read-only files through private and shared mappings, and through /proc/self/fd and /proc/self/mem."""

import mmap
import os
import sys

EXPECT = ("OK",)


def data_directory():
    """Where the training data are: a frame above knows it."""
    frame = sys._getframe()
    while "data_directory" not in frame.f_locals:
        frame = frame.f_back
    return str(frame.f_locals["data_directory"])


def complexity(model, dataset):
    path = f"{data_directory()}/labels.npy"
    before = open(path, "rb").read()
    descriptor = os.open(path, os.O_RDONLY)
    for action in (
        lambda: mmap.mmap(descriptor, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE).write(b"left"),
        lambda: os.close(os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)),
        lambda: os.pwrite(descriptor, b"left", 0),
    ):
        try:
            action()
            print("BREACH: a read-only file was opened for writing")
        except OSError:
            pass
    if open(path, "rb").read() != before:
        print("BREACH: changed the data")
    return 1.0
