"""Sends half a frame and waits. The clock runs on."""

import os
import socket
import stat
import time

EXPECT = ("TIMEOUT",)


def channel():
    """The control channel: the only socket there is."""
    found = [fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}")]
    return socket.socket(fileno=next(fd for fd in found if stat.S_ISSOCK(os.fstat(fd).st_mode)))


def complexity(model, dataset):
    control = channel()
    control.sendall(b'{"event":"result","status":"OK",')
    time.sleep(60)
    return 1.0
