"""Watches files that all sandboxes share, and so sees what calls that run at the same time open."""

import ctypes
import os
import select

EXPECT = ("OK",)
IN_OPEN = 0x20


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    events = libc.inotify_init1(os.O_NONBLOCK)
    if events < 0 or libc.inotify_add_watch(events, os.__file__.encode(), IN_OPEN) < 0:
        return 1.0
    if select.select([events], [], [], 1.0)[0]:
        print("BREACH: another process opened a file")
    return 1.0
