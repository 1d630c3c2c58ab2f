"""Keeps memory in the queues of socket pairs, in several processes: kernel memory that belongs to no process."""

import os
import socket
import time

EXPECT = ("OK", "MEMORY")
CHILDREN = 7
TOO_MUCH = 660 << 20  #: with the 250 MiB and more of the worker itself, over the limit


def hoard(report):
    held, pairs = 0, []
    try:
        while True:
            pairs.append(socket.socketpair())
            pairs[-1][0].setblocking(False)
            try:
                while True:
                    held += pairs[-1][0].send(b"x" * (1 << 16))
            except BlockingIOError:
                pass
    except OSError:  # no more descriptors
        pass
    os.write(report, held.to_bytes(8, "little"))
    time.sleep(1000)


def complexity(model, dataset):
    answer, report = os.pipe()
    for _ in range(CHILDREN):
        if os.fork() == 0:
            hoard(report)
    total = sum(int.from_bytes(os.read(answer, 8), "little") for _ in range(CHILDREN))
    if total > TOO_MUCH:
        print(f"BREACH: {total >> 20} MiB in socket queues")
    return 1.0
