"""Closes the control channel and goes on. That ends the call."""

import os
import time

EXPECT = ("CRASH",)


def complexity(model, dataset):
    os.closerange(3, 1024)
    time.sleep(60)
    return 1.0
