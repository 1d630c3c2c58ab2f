"""Kills its process group and its parent's, in which the harness might be."""

import os
import signal

EXPECT = ("CRASH",)


def complexity(model, dataset):
    os.killpg(0, signal.SIGKILL)
    return 1.0
