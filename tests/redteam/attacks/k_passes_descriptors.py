"""Sends open files over the channel, to exhaust the harness' own. The harness accepts none."""

import os
import socket
import stat

EXPECT = ("OK",)


def channel():
    """The control channel: the only socket there is."""
    found = [fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}")]
    return socket.socket(fileno=next(fd for fd in found if stat.S_ISSOCK(os.fstat(fd).st_mode)))


def complexity(model, dataset):
    control = channel()
    try:
        for _ in range(100):
            socket.send_fds(control, [b" "], [0] * 200)
    except OSError:  # too many on their way
        pass
    control.detach()
    return 1.0
