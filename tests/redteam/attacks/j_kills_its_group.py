"""Kills its process group and its parent's, in which the harness might be."""

import os
import signal

EXPECT = ("CRASH", "OK")  # the latter where it is the first process of its namespace, which cannot kill itself


def complexity(model, dataset):
    os.killpg(0, signal.SIGKILL)
    return 1.0
