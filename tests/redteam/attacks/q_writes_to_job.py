"""Changes the submission, the model, the data, the worker and the environment. All are mounted read-only."""

import os
import sys

EXPECT = ("OK",)
PLACES = ("/job", "/job/submission", "/job/model", "/job/data", "/job/trusted", "/usr", "/", "/etc", "/dev", sys.prefix)
FILES = ("/job/submission/complexity.py", "/job/data/inputs.npy", "/job/model/weights.npz", "/bin/sh", sys.executable)
CHANGES = {
    "made a directory": lambda place: os.mkdir(f"{place}/left"),
    "made a link": lambda place: os.symlink("x", f"{place}/link"),
    "opened": lambda path: open(path, "r+b"),
    "removed": os.unlink,
    "moved": lambda path: os.rename(path, "/tmp/moved"),
    "changed the mode": lambda path: os.chmod(path, 0o777),
    "changed the times": os.utime,
    "set an attribute": lambda path: os.setxattr(path, "user.left", b"x"),
}


def complexity(model, dataset):
    for path in PLACES + FILES:
        for what, change in CHANGES.items():
            try:
                change(path)
                print(f"BREACH: {what}: {path}")
            except OSError:
                pass
    return 1.0
