"""Sends a frame without an end. More than 4096 bytes are a protocol error."""

import os
import socket
import stat

EXPECT = ("PROTOCOL",)


def channel():
    """The control channel: the only socket there is."""
    found = [fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}")]
    return socket.socket(fileno=next(fd for fd in found if stat.S_ISSOCK(os.fstat(fd).st_mode)))


def complexity(model, dataset):
    control = channel()
    while True:
        control.sendall(b"x" * 65536)
