"""Writes to the training data, which calls share, in every way, and looks for what an earlier call wrote."""

import ctypes
import os

EXPECT = ("OK",)
TWICE = True
MARK = b"left"


def arrays(dataset):
    if hasattr(dataset, "tensors"):
        return [tensor.numpy() for tensor in dataset.tensors]
    return list(getattr(dataset, "arrays", ())) or [dataset.inputs, dataset.labels]


def complexity(model, dataset):
    inputs, _ = arrays(dataset)
    address, path = inputs.ctypes.data, "/job/data/inputs.npy"
    if MARK in inputs.tobytes() or (os.path.exists(path) and MARK in open(path, "rb").read()):
        print("BREACH: a mark in the training data")
    inputs.reshape(-1).view("u1")[:4] = bytearray(MARK)
    ctypes.memmove(address + 4, MARK, 4)
    protect = ctypes.CDLL(None).mprotect
    protect(ctypes.c_void_p(address & -4096), 4096, 7)
    for file, place in (("/proc/self/mem", address + 8), (path, 128), (f"/proc/self/map_files/{address:x}", 0)):
        try:
            descriptor = os.open(file, os.O_RDWR)
            os.pwrite(descriptor, MARK, place)
            os.fsync(descriptor)
        except OSError:
            pass
    if MARK not in inputs.tobytes():
        print("BREACH: nothing was written, so nothing was tried")
    return 1.0
