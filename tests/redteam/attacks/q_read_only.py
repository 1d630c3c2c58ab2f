"""Changes of files that are read-only."""

import ctypes
import mmap
import os
import sys

from attack_suite import expected
from tools import LIBC, attempt, data_directory


@expected("OK")
def q_mapped_writes(model, dataset):
    """Writes to read-only files through private and shared mappings, and through /proc/self/fd and /proc/self/mem."""
    path = f"{data_directory()}/labels.npy"
    before = open(path, "rb").read()
    descriptor = os.open(path, os.O_RDONLY)
    for action in (
        lambda: mmap.mmap(descriptor, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE).write(b"left"),
        lambda: os.close(os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)),
        lambda: os.pwrite(descriptor, b"left", 0),
    ):
        attempt("a read-only file was opened for writing", action)
    if open(path, "rb").read() != before:
        print("BREACH: changed the data")


HERE = -100
FCHMODAT2, SETXATTRAT, REMOVEXATTRAT, FILE_SETATTR = 452, 463, 466, 469


class Attribute(ctypes.Structure):
    """`struct xattr_args`."""

    _fields_ = [("value", ctypes.c_uint64), ("size", ctypes.c_uint32), ("flags", ctypes.c_uint32)]


@expected("OK")
def q_newer_calls(model, dataset):
    """Changes modes and attributes of files with recent system calls, which a list of refused calls may lack."""
    call, mark = LIBC.syscall, ctypes.create_string_buffer(b"x")
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
    """Return the directories of the worker's code, the submission, the model and the data, from the frames above."""
    frame, found = sys._getframe(), {os.path.dirname(__file__), "/job/trusted", os.path.abspath(f"{MAIN}/../../..")}
    while frame := frame.f_back:
        found |= {str(frame.f_locals[name]) for name in ("model_directory", "data_directory") if name in frame.f_locals}
    return [path for path in sorted(found) if os.path.isdir(path)]


@expected("OK")
def q_writes_to_job(model, dataset):
    """Changes the submission, the model, the data, the worker and the environment. All are mounted read-only."""
    staged = [os.path.join(top, name) for top in directories() for name in ("", *os.listdir(top))]
    for path in (*PLACES, *FILES, *staged):
        for what, change in CHANGES.items():
            attempt(f"{what}: {path}", lambda: change(path))
