"""Puts a module of its own in the way of the harness' for later imports, and finds nothing left to import."""

import os
import sys

EXPECT = ("OK",)


def complexity(model, dataset):
    for path in ("/job/trusted/harness/worker/main.py", "/job/submission/numpy.py", "/job/trusted/numpy.py"):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
            print(f"BREACH: {path} can be written")
        except OSError:
            pass
    if "/job/trusted" in sys.path:
        print("BREACH: the worker's directory is searched")
    return 1.0
