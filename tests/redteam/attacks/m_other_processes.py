"""Lists processes. There are none but its own, and at most two that hold the sandbox open."""

import os

EXPECT = ("OK",)
UNDER_LANDLOCK = ("FORBIDDEN",)  # there is no list


def complexity(model, dataset):
    others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}
    if len(others) > 2 or max(others, default=0) > 100:
        print(f"BREACH: processes {others}")
    return 1.0
