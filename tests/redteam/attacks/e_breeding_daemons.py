"""Processes that replace themselves faster than they can be found. A namespace is killed in one step."""

import os
import time

EXPECT = ("OK",)


def complexity(model, dataset):
    for _ in range(3):
        if os.fork() == 0:
            while True:
                try:
                    if os.fork():
                        os._exit(0)
                    os.setsid()
                except OSError:
                    pass
    time.sleep(0.3)
    return 1.0
