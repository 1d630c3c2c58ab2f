"""Changes the submission, the model, the data, the worker and the environment. All are mounted read-only."""

import os
import sys

EXPECT = ("OK",)
MAIN = sys.modules["harness.worker.main"].__file__
SCRATCH = os.environ["TMPDIR"]
PLACES = (os.path.dirname(os.path.dirname(__file__)), "/usr", "/", "/etc", "/dev", sys.prefix)
FILES = ("/bin/sh", sys.executable, "@CACHE@", "@TASK@", "@TASK@/single/model_0/config.json")
CHANGES = {
    "made a directory": lambda place: os.mkdir(f"{place}/left"),
    "made a link": lambda place: os.symlink("x", f"{place}/link"),
    "opened": lambda path: open(path, "r+b"),
    "removed": os.unlink,
    "moved": lambda path: os.rename(path, f"{SCRATCH}/moved"),
    "changed the mode": lambda path: os.chmod(path, 0o777),
    "changed the times": os.utime,
    "set an attribute": lambda path: os.setxattr(path, "user.left", b"x"),
}


def directories():
    """Where the worker's code, the submission, the model and the data are: the frames above know it."""
    frame, found = sys._getframe(), {os.path.dirname(__file__), "/job/trusted", os.path.abspath(f"{MAIN}/../../..")}
    while frame := frame.f_back:
        found |= {str(frame.f_locals[name]) for name in ("model_directory", "data_directory") if name in frame.f_locals}
    return [path for path in sorted(found) if os.path.isdir(path)]


def complexity(model, dataset):
    staged = [os.path.join(top, name) for top in directories() for name in ("", *os.listdir(top))]
    for path in (*PLACES, *FILES, *staged):
        for what, change in CHANGES.items():
            try:
                change(path)
                print(f"BREACH: {what}: {path}")
            except OSError:
                pass
    return 1.0
