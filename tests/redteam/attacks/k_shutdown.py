"""Shuts the channel down in both directions, and returns a value."""

import os
import socket
import stat

EXPECT = ("CRASH",)


def channel():
    """The control channel: the only socket there is."""
    found = [fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}")]
    return socket.socket(fileno=next(fd for fd in found if stat.S_ISSOCK(os.fstat(fd).st_mode)))


def complexity(model, dataset):
    channel().shutdown(socket.SHUT_RDWR)
    return 1.0
