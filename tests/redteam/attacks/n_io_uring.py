"""Makes an io_uring, whose operations no system-call filter sees."""

import ctypes

EXPECT = ("OK",)


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(425, 8, ctypes.create_string_buffer(256)) >= 0:
        print("BREACH: io_uring_setup")
    return 1.0
