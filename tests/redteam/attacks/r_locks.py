"""Sees who holds locks on files that all sandboxes share, and so can talk to calls that run at the same time."""

import fcntl
import os

EXPECT = ("OK",)


def complexity(model, dataset):
    with open(os.__file__, "rb") as shared:
        try:
            fcntl.flock(shared, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            print("BREACH: a lock of another process")
        except OSError:
            pass
    return 1.0
