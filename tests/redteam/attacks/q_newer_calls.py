"""Changes modes and attributes of other files by recent system calls, by number: deny lists may not name them."""

import ctypes
import os
import sys

EXPECT = ("OK",)
HERE = -100
FCHMODAT2, SETXATTRAT, REMOVEXATTRAT, FILE_SETATTR = 452, 463, 466, 469


class Attribute(ctypes.Structure):
    """`struct xattr_args`."""

    _fields_ = [("value", ctypes.c_uint64), ("size", ctypes.c_uint32), ("flags", ctypes.c_uint32)]


def complexity(model, dataset):
    call, mark = ctypes.CDLL(None).syscall, ctypes.create_string_buffer(b"x")
    attribute, flags = Attribute(ctypes.addressof(mark), 1, 0), bytes(24)
    for path in ("@TASK@/single/model_0/config.json", "@TASK@", "@CACHE@", __file__, sys.prefix):
        name = os.fsencode(path)
        for what, result in (
            ("fchmodat2", call(FCHMODAT2, HERE, name, 0o777, 0)),
            ("setxattrat", call(SETXATTRAT, HERE, name, 0, b"user.left", ctypes.byref(attribute), 16)),
            ("removexattrat", call(REMOVEXATTRAT, HERE, name, 0, b"user.left")),
            ("file_setattr", call(FILE_SETATTR, HERE, name, flags, len(flags), 0)),
        ):
            if result == 0:
                print(f"BREACH: {what} on {path}")
    return 1.0
