"""Forges its own result. It can only say what it could return as well."""

import os
import socket
import stat
import time

EXPECT = ("OK",)
VALUE = 42.0


def channel():
    """The control channel: the only socket there is."""
    found = [fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}")]
    return socket.socket(fileno=next(fd for fd in found if stat.S_ISSOCK(os.fstat(fd).st_mode)))


def complexity(model, dataset):
    control = channel()
    control.sendall(b'{"event":"result","status":"OK","value":"0x1.5p5"}\n')
    time.sleep(60)
    return 1.0
