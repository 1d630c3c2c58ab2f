"""Forges a result from a child while the parent goes on. Still only its own value."""

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
    if os.fork() == 0:
        control.sendall(b'{"event":"result","status":"OK","value":"0x1.5p5"}\n')
        os._exit(0)
    time.sleep(60)
    return 1.0
