"""Searches /proc, apart from its own processes, for content that its actions change: a later call could read it.

It reads every file twice, and in between does some of everything that a kernel counts.
"""

import os
import socket
import time

import numpy as np

EXPECT = ("OK",)


def files():
    """Everything below /proc that is of no process."""
    try:
        names = [name for name in os.listdir("/proc") if not name.isdigit() and not os.path.islink(f"/proc/{name}")]
    except OSError:  # some that are known, where there is no list
        names = ["stat", "vmstat", "meminfo", "loadavg", "uptime", "diskstats", "interrupts", "softirqs", "pressure"]
        names += [f"sys/fs/{name}" for name in ("dentry-state", "inode-nr", "inode-state", "file-nr", "aio-nr")]
    for name in names:
        yield f"/proc/{name}"
        for directory, _, below in os.walk(f"/proc/{name}"):
            yield from (f"{directory}/{file}" for file in below)


def contents():
    found = {}
    for path in files():
        try:
            with open(path, "rb") as file:
                found[path] = file.read(1 << 16)
        except OSError:
            pass
    return found


def complexity(model, dataset):
    before = contents()
    held = [np.ones(1 << 22), [os.pipe() for _ in range(100)]]
    held += [socket.socketpair() for _ in range(20)] if before else []  # there are none where there are no files
    for number in range(200):
        open(f"{os.environ['TMPDIR']}/{number}", "w").close()
    if os.fork() == 0:
        os._exit(0)
    time.sleep(0.3)
    for path, content in contents().items():
        if content != before.get(path, content):
            print(f"BREACH: {path} changed while {len(held)} things were held")
    return 1.0
