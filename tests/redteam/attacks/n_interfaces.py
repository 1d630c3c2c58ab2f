"""Lists network interfaces, and connections of the machine."""

import os
import socket

EXPECT = ("OK",)


def complexity(model, dataset):
    devices = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
    if set(devices) - {"lo"}:
        print(f"BREACH: {devices}")
    if "@TOKEN@" in open("/proc/net/unix").read():
        print("BREACH: the machine's sockets are listed")
    if socket.gethostname() == "@HOST@" or os.uname().nodename == "@HOST@":
        print("BREACH: the machine's name")
    return 1.0
