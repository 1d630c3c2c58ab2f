"""Sees who holds locks on files that all sandboxes share, and so can talk to calls that run at the same time."""

import fcntl
import os
import struct

EXPECT = ("OK",)
F_OFD_GETLK = 36


def complexity(model, dataset):
    with open(os.__file__, "rb") as shared:
        try:
            fcntl.flock(shared, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            print("BREACH: a lock of another process")
        except OSError:
            pass
        for question in (fcntl.F_GETLK, F_OFD_GETLK):
            try:
                answer = fcntl.fcntl(shared, question, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
            except OSError:
                continue
            if struct.unpack_from("h", answer)[0] != fcntl.F_UNLCK:
                print("BREACH: a lock of another process on a part of a file")
    return 1.0
