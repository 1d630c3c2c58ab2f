"""Looks through its open descriptors. There are the streams, the control channel, and TensorFlow's own."""

import os
import stat
import sys

EXPECT = ("OK",)
STAGED = os.path.dirname(os.path.dirname(__file__)) + "/"


def complexity(model, dataset):
    sockets = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            mode, link = os.fstat(int(name)).st_mode, os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        sockets += stat.S_ISSOCK(mode)
        if stat.S_ISDIR(mode) and not link.startswith("/proc") or "memfd" in link or "pidfd" in link:
            print(f"BREACH: descriptor {name} is {link}")
        if stat.S_ISREG(mode) and not link.startswith((STAGED, "/usr/", "/proc/", sys.prefix, sys.base_prefix)):
            print(f"BREACH: descriptor {name} is {link}")
    if sockets != 1:
        print(f"BREACH: {sockets} sockets")
    return 1.0
