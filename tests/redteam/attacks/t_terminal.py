"""Pushes keystrokes into the terminal of the harness."""

import ctypes
import os

EXPECT = ("OK",)
TIOCSTI, TIOCLINUX, TIOCSCTTY = 0x5412, 0x541C, 0x540E


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    for path in ("/dev/tty", "/dev/console", "/dev/pts/0"):
        try:
            os.open(path, os.O_RDWR)
            print(f"BREACH: opened {path}")
        except OSError:
            pass
    for descriptor in range(16):
        for request in (TIOCSTI, TIOCLINUX, TIOCSTI | 1 << 32):
            if libc.ioctl(descriptor, ctypes.c_ulong(request), b"x") == 0:
                print(f"BREACH: keystrokes by descriptor {descriptor}")
    return 1.0
