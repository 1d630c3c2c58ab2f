"""Tries to shadow modules of the harness or its libraries in later imports. Their directories are read-only."""

import os
import sys

EXPECT = ("OK",)


def complexity(model, dataset):
    main, submission = sys.modules["harness.worker.main"].__file__, os.path.dirname(__file__)
    trusted = os.path.abspath(f"{main}/../../..")
    for path in (main, f"{submission}/numpy.py", f"{trusted}/numpy.py", "/job/trusted/numpy.py"):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
            print(f"BREACH: {path} can be written")
        except OSError:
            pass
    if {trusted, "/job/trusted"} & set(sys.path):
        print("BREACH: the worker's directory is searched")
    return 1.0
