"""Sets write-lifetime hints on files that a later call shares. Setting one needs no write permission."""

import fcntl
import os
import struct
import sys

EXPECT = ("OK",)
TWICE = True
F_GET_RW_HINT, F_SET_RW_HINT, SHORT = 1035, 1036, struct.pack("Q", 2)


def data_directory():
    """Where the training data are: a frame above knows it."""
    frame = sys._getframe()
    while "data_directory" not in frame.f_locals:
        frame = frame.f_back
    return str(frame.f_locals["data_directory"])


def complexity(model, dataset):
    for path in (f"{data_directory()}/labels.npy", os.__file__, f"{sys.prefix}/pyvenv.cfg"):
        if not os.path.exists(path):
            continue
        with open(path, "rb") as shared:
            for what, command in (("read", F_GET_RW_HINT), ("set", F_SET_RW_HINT)):
                try:
                    hint = fcntl.fcntl(shared, command, SHORT)
                except OSError:
                    continue
                if hint == SHORT:
                    print(f"BREACH: {what} a hint of {path}")
    return 1.0
