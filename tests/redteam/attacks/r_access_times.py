"""Marks files that all calls share by reading them. Read-only mounts keep no access times."""

import os
import sys
import time

EXPECT = ("OK",)


def complexity(model, dataset):
    for path in ("/job/data/labels.npy", "/job/submission/complexity.py", f"{sys.prefix}/pyvenv.cfg"):
        if not os.path.exists(path):
            continue
        before = os.stat(path)
        time.sleep(0.02)
        open(path, "rb").read()
        after = os.stat(path)
        if (before.st_atime_ns, before.st_ctime_ns) != (after.st_atime_ns, after.st_ctime_ns):
            print(f"BREACH: {path} remembers that it was read")
    return 1.0
