"""Lists network interfaces, and connections of the machine."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    for directory in ("/proc/net", "/proc/self/net", f"/proc/self/task/{os.getpid()}/net"):
        try:
            devices = [line.split(":")[0].strip() for line in open(f"{directory}/dev").readlines()[2:]]
            listed = "@TOKEN@" in open(f"{directory}/unix").read()
        except OSError:
            continue
        if set(devices) - {"lo"}:
            print(f"BREACH: {devices}")
        if listed:
            print("BREACH: the machine's sockets are listed")
    return 1.0
